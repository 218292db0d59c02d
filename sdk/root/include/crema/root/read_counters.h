// ReadCounters: what ROOT reads and decompresses on one thread, for the chunk that the thread works for.
#ifndef CREMA_ROOT_READ_COUNTERS_H_
#define CREMA_ROOT_READ_COUNTERS_H_

#include <TBranch.h>
#include <TFile.h>
#include <TList.h>
#include <TTimeStamp.h>
#include <TTree.h>
#include <TTreeCache.h>
#include <TUrl.h>
#include <TVirtualPerfStats.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "crema/record_metric.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/root/server_name.h"
#include "crema/track_metrics.h"
#include "crema/track_request.h"

namespace crema::internal {

/// The baskets that ROOT took into use, by the name of their branch: read from the file or from the tree's cache, and
/// decompressed. Branches of one name are one column.
class ColumnBytes {
 public:
  /// Further ones, by name, are together in one. A chunk and a measurement keep 1,000 metrics, and the user has some.
  static constexpr std::size_t kMostColumns = 100;

  void Add(const TBranch& branch, std::size_t basket) {
    const std::string_view name = branch.GetName();
    auto column = bytes_.find(name);
    if (column == bytes_.end()) column = bytes_.emplace(name, 0).first;
    column->second += branch.GetBasketBytes()[basket];
  }
  void Clear() { bytes_.clear(); }
  /// Reports to the chunk of this thread.
  void Record() const {
    const std::string prefix = "column_bytes.";
    std::size_t columns = 0;
    std::int64_t other_bytes = 0;
    for (const auto& [name, bytes] : bytes_) {
      if (++columns > kMostColumns) {
        other_bytes += bytes;
      } else {
        RecordMetric(prefix + name, bytes, "B");
      }
    }
    if (columns > kMostColumns) RecordMetric(prefix + "(other)", other_bytes, "B");
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> bytes_;
};

/// ROOT reports each read and each decompression to one `TVirtualPerfStats` per thread. This one counts, and passes
/// all on to the program's own, if there is one.
class ReadCounters final : public TVirtualPerfStats {
 public:
  using Stats = TVirtualPerfStats;

  ReadCounters() = default;
  ReadCounters(const ReadCounters&) = delete;
  ReadCounters& operator=(const ReadCounters&) = delete;
  ~ReadCounters() override { Uninstall(); }

  /// Counts for `chunk`, the innermost of this thread, until `Uninstall` on the same thread. `tree` is what is read,
  /// if that is known: ROOT prefers a tree's own statistics to the thread's.
  void Install(TrackMetrics* chunk, TTree* tree) {
    Uninstall();
    chunk_ = chunk;
    thread_ = std::this_thread::get_id();
    counts_ = Counts();
    columns_.Clear();
    around_ = gPerfStats;
    const auto* outer = dynamic_cast<ReadCounters*>(around_);
    own_ = outer != nullptr ? outer->own_ : around_;  // a chunk inside another one: what it reads is its own
    gPerfStats = this;
    tree_ = tree;
    tree_own_ = nullptr;
    current_tree_ = tree != nullptr ? tree->GetTree() : nullptr;
    if (current_tree_ == nullptr) return;
    // Only a tree's own statistics learn which baskets are used.
    tree_around_ = current_tree_->GetPerfStats();
    const auto* counters = dynamic_cast<ReadCounters*>(tree_around_);
    tree_own_ = counters != nullptr ? counters->tree_own_ : tree_around_;
    if (tree_own_ != nullptr) own_ = tree_own_;
    current_tree_->SetPerfStats(this);
  }
  void Uninstall() {
    if (chunk_ == nullptr) return;
    chunk_ = nullptr;
    if (gPerfStats == this) {
      gPerfStats = around_;
    } else {
      LeaveChain(gPerfStats, &ReadCounters::around_);
    }
    if (current_tree_ == nullptr || tree_->GetTree() != current_tree_) return;
    if (current_tree_->GetPerfStats() == this) {
      current_tree_->SetPerfStats(tree_around_);
    } else {
      LeaveChain(current_tree_->GetPerfStats(), &ReadCounters::tree_around_);
    }
  }
  /// Reports to the chunk. `file_is_open`: the tree's still is. The program may have closed others that it read
  /// meanwhile.
  void Record(bool file_is_open) {
    const TFile* const open = file_is_open && tree_ != nullptr ? tree_->GetCurrentFile() : nullptr;
    for (int i = 0; i < counts_.num_files; ++i) {
      ReadFile& read = counts_.files[i];
      if (read.file == open) read.NoteOverhead();
      counts_.overhead_bytes += read.overhead_bytes;
    }
    const std::int64_t payload_bytes = counts_.read_bytes - counts_.overhead_bytes;
    // What was read and needed no decompression counts as it is stored.
    chunk_->AddBytesRead(payload_bytes,
                         std::max<std::int64_t>(0, payload_bytes - counts_.zip_bytes + counts_.unzip_bytes));
    RecordMetric(metric::kBytesRead, payload_bytes, "B");
    RecordMetric(metric::kReadOverheadBytes, counts_.overhead_bytes, "B");
    RecordMetric(metric::kReadCalls, counts_.read_calls, "count");
    RecordMetric(metric::kReadWall, counts_.read_seconds, "s");
    RecordMetric(metric::kUnzipBytes, counts_.unzip_bytes, "B");
    RecordMetric(metric::kUnzipWall, counts_.unzip_seconds, "s");
    columns_.Record();
  }

  /// ROOT reports a vector read as one, so reads of both kinds are requests "read".
  void FileReadEvent(TFile* file, Int_t bytes, Double_t start) override {
    if (IsOwnThread()) {
      const double seconds = SecondsSince(start);
      counts_.read_seconds += seconds;
      counts_.read_bytes += bytes;
      ++counts_.read_calls;
      RecordRequest(NoteFile(file)->server, "read", bytes, static_cast<std::int64_t>(seconds * 1e9));
      AddColumns(file, nullptr);
    }
    if (own_ != nullptr) own_->FileReadEvent(file, bytes, start);
  }
  void UnzipEvent(TObject* tree, Long64_t position, Double_t start, Int_t stored, Int_t bytes) override {
    if (IsOwnThread()) {
      counts_.unzip_seconds += SecondsSince(start);
      counts_.zip_bytes += stored;
      counts_.unzip_bytes += bytes;
      if (TFile* file = static_cast<TTree*>(tree)->GetCurrentFile()) {
        NoteFile(file)->NoteOverhead();
        AddColumns(file, tree);
      }
    }
    if (own_ != nullptr) own_->UnzipEvent(tree, position, start, stored, bytes);
  }
  void SetUsed(TBranch* branch, size_t basket) override {
    if (IsOwnThread()) columns_.Add(*branch, basket);
    if (tree_own_ != nullptr) tree_own_->SetUsed(branch, basket);
  }

  // The rest is the program's own.
  void SimpleEvent(EEventType type) override { Tell(own_, &Stats::SimpleEvent, type); }
  void PacketEvent(const char* a, const char* b, const char* c, Long64_t d, Double_t e, Double_t f, Double_t g,
                   Long64_t h) override {
    Tell(own_, &Stats::PacketEvent, a, b, c, d, e, f, g, h);
  }
  void FileEvent(const char* a, const char* b, const char* c, const char* d, Bool_t start) override {
    Tell(own_, &Stats::FileEvent, a, b, c, d, start);
  }
  void FileOpenEvent(TFile* file, const char* name, Double_t start) override {
    Tell(own_, &Stats::FileOpenEvent, file, name, start);
  }
  void RateEvent(Double_t a, Double_t b, Long64_t c, Long64_t d) override { Tell(own_, &Stats::RateEvent, a, b, c, d); }
  void SetBytesRead(Long64_t bytes) override { Tell(own_, &Stats::SetBytesRead, bytes); }
  Long64_t GetBytesRead() const override { return own_ != nullptr ? own_->GetBytesRead() : 0; }
  void SetNumEvents(Long64_t events) override { Tell(own_, &Stats::SetNumEvents, events); }
  Long64_t GetNumEvents() const override { return own_ != nullptr ? own_->GetNumEvents() : 0; }
  void PrintBasketInfo(Option_t* option = "") const override {
    if (own_ != nullptr) own_->PrintBasketInfo(option);
  }
  void SetLoaded(TBranch* branch, size_t basket) override { Tell(tree_own_, &Stats::SetLoaded, branch, basket); }
  void SetLoaded(size_t branch, size_t basket) override { Tell(tree_own_, &Stats::SetLoaded, branch, basket); }
  void SetLoadedMiss(TBranch* branch, size_t basket) override {
    Tell(tree_own_, &Stats::SetLoadedMiss, branch, basket);
  }
  void SetLoadedMiss(size_t branch, size_t basket) override { Tell(tree_own_, &Stats::SetLoadedMiss, branch, basket); }
  void SetMissed(TBranch* branch, size_t basket) override { Tell(tree_own_, &Stats::SetMissed, branch, basket); }
  void SetMissed(size_t branch, size_t basket) override { Tell(tree_own_, &Stats::SetMissed, branch, basket); }
  void SetUsed(size_t branch, size_t basket) override { Tell(tree_own_, &Stats::SetUsed, branch, basket); }
  void UpdateBranchIndices(TObjArray* branches) override { Tell(tree_own_, &Stats::UpdateBranchIndices, branches); }

 private:
  /// A file that the chunk read. What ROOT read along to save calls it takes out of the file's bytes afterwards.
  struct ReadFile {
    TFile* file = nullptr;
    std::int64_t overhead_start_bytes = 0;
    std::int64_t overhead_bytes = 0;
    std::string server;
    std::string name;  ///< another file may come to be in the same place
    void NoteOverhead() {
      overhead_bytes = std::max<std::int64_t>(0, file->GetBytesReadExtra() - overhead_start_bytes);
    }
  };
  static constexpr int kMostFiles = 8;  ///< with friends; the overhead of further ones counts as payload

  struct Counts {
    std::int64_t read_bytes = 0;
    std::int64_t overhead_bytes = 0;
    std::int64_t read_calls = 0;
    double read_seconds = 0;
    std::int64_t zip_bytes = 0;    ///< into the decompressor
    std::int64_t unzip_bytes = 0;  ///< out of it
    double unzip_seconds = 0;
    int num_files = 0;
    ReadFile files[kMostFiles];
    const TList* names = nullptr;  ///< that the chunk has
    int num_names = 0;
  };

  void SetFile(TFile*) override {}
  template <class... Arguments>
  static void Tell(Stats* own, void (Stats::*event)(Arguments...), Arguments... arguments) {
    if (own != nullptr) (own->*event)(arguments...);
  }
  /// Where ROOT reads the branches of an entry on several threads, it calls a tree's statistics on all of them.
  bool IsOwnThread() const { return thread_ == std::this_thread::get_id(); }
  /// Ends before a chunk that began later, which would put it back.
  void LeaveChain(TVirtualPerfStats* innermost, TVirtualPerfStats* ReadCounters::*around) {
    for (auto* other = dynamic_cast<ReadCounters*>(innermost); other != nullptr;
         other = dynamic_cast<ReadCounters*>(other->*around)) {
      if (other->*around == this) other->*around = this->*around;
    }
  }
  /// By the clock that ROOT took `start` from; 0 where somebody set it back.
  static double SecondsSince(double start) { return std::max(0.0, static_cast<double>(TTimeStamp()) - start); }

  ReadFile* NoteFile(TFile* file) {
    for (int i = 0; i < counts_.num_files; ++i) {
      if (ReadFile& known = counts_.files[i]; known.file == file && known.name == file->GetName()) return &known;
    }
    if (counts_.num_files == 0) AddServer(*file);
    ReadFile* read = &other_;
    if (counts_.num_files < kMostFiles) read = &counts_.files[counts_.num_files++];
    *read = {file, file->GetBytesReadExtra(), 0, KeptServerName(*file), file->GetName()};
    return read;
  }
  void AddServer(const TFile& file) {
    const TUrl* server = file.GetEndpointUrl();
    if (server == nullptr || std::strcmp(server->GetProtocol(), "file") == 0) return;
    if (*server->GetHost() != '\0') chunk_->SetAttribute("server", server->GetHost());
  }
  /// ROOT keeps the names of the cache's branches for classes that derive from it. Its list of the branches themselves
  /// may still be of the file before.
  struct CachedNames : TTreeCache {
    static const TList* Of(const TTreeCache& cache) { return cache.*(&CachedNames::fBrNames); }
  };
  void AddColumns(TFile* file, const TObject* tree) {
    const auto* cache = dynamic_cast<TTreeCache*>(file->GetCacheRead(tree));
    const TList* names = cache != nullptr ? CachedNames::Of(*cache) : nullptr;
    if (names == nullptr || (names == counts_.names && names->GetSize() == counts_.num_names)) return;
    counts_.names = names;
    counts_.num_names = names->GetSize();
    for (const TObject* name : *names) chunk_->AddColumn(name->GetName());
  }

  TrackMetrics* chunk_ = nullptr;  ///< null: not installed
  std::thread::id thread_;         ///< the chunk's
  Counts counts_;
  ColumnBytes columns_;
  TVirtualPerfStats* around_ = nullptr;  ///< was the thread's before
  TVirtualPerfStats* own_ = nullptr;     ///< the program's
  TTree* tree_ = nullptr;
  TTree* current_tree_ = nullptr;             ///< the tree that is read
  TVirtualPerfStats* tree_around_ = nullptr;  ///< was the tree's before
  TVirtualPerfStats* tree_own_ = nullptr;     ///< the program's for this tree: hears of baskets
  ReadFile other_;
};

}  // namespace crema::internal

#endif  // CREMA_ROOT_READ_COUNTERS_H_
