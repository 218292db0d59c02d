// The action that sees RDataFrame's tasks, and what it keeps of each.
#ifndef CREMA_ROOT_FRAME_ACTION_H_
#define CREMA_ROOT_FRAME_ACTION_H_

#include <RVersion.h>
#include <TChain.h>
#include <TTree.h>
#include <TTreeReader.h>

#include <ROOT/RDF/RActionImpl.hxx>
#include <ROOT/RDF/RSampleInfo.hxx>
#include <ROOT/RDF/Utils.hxx>
#include <ROOT/RDataSource.hxx>
#include <ROOT/RNTupleDS.hxx>
#include <ROOT/RNTupleMetrics.hxx>
#include <ROOT/RPageStorage.hxx>
#include <ROOT/RTTreeDS.hxx>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "crema/internal/section_node.h"
#include "crema/record_metric.h"
#include "crema/recorder.h"
#include "crema/root/cut_flow.h"
#include "crema/root/error_notes.h"
#include "crema/root/failed_input.h"
#include "crema/root/loop_passes.h"
#include "crema/root/ntuple_counters.h"
#include "crema/root/read_counters.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/root/server_name.h"
#include "crema/root/tree_position.h"
#include "crema/root/written_bytes.h"
#include "crema/track_metrics.h"
#include "crema/track_section.h"

namespace crema {

/// How a frame is tracked.
struct DataFrameOptions {
  DataFrameOptions() = default;
  DataFrameOptions(const char* name) : dataset(name == nullptr ? "" : name) {}  // NOLINT(google-explicit-constructor)
  DataFrameOptions(std::string name) : dataset(std::move(name)) {}              // NOLINT(google-explicit-constructor)

  std::string dataset;  ///< of its chunks; empty: the name of the sample (RDatasetSpec), else none
  std::string pass;     ///< of its chunks; empty: as in `Chunk`, and "loop 2" where a file is read again
  /// Where a task is longer, it is several chunks of this many entries; 0: a chunk is a task. Without implicit MT a
  /// file is one task.
  std::int64_t entries_per_chunk = 0;
  /// Whether "loop 2" is a loop of its own; false where the program runs the loops of one frame over parts of its
  /// files.
  bool counts_loops = true;
};

namespace internal {

/// The time on this thread, as sections count it; 0: not known.
inline std::uint64_t SectionTicks() noexcept {
  ThreadContext* context = ContextOfThread();
  if (context == nullptr) context = EnsureThreadContext();
  return context != nullptr ? Ticks(context) : 0;
}

/// A section of this thread that begins at `start_ticks` and ends now. What may come to nothing is marked so.
inline void RecordSectionSince(std::string_view name, std::uint64_t start_ticks) noexcept {
  if (start_ticks == 0 || !Recording()) return;
  OpenSection section = EnterSection(name);
  if (section.node == nullptr) return;
  section.start_ticks = start_ticks;
  section.node->start_ticks.store(start_ticks, std::memory_order_relaxed);
  ExitSection(section);
}

// RDataFrame shows nobody the sources that it reads pages from. An explicit instantiation may name its private members.
#if ROOT_VERSION_CODE < ROOT_VERSION(6, 41, 0)  // another version may have other members
#define CREMA_ROOT_HAS_FRAME_PAGES
template <class Tag, auto Member>
struct NtupleMember {
  friend auto& MemberOf(Tag, const ROOT::RDF::RNTupleDS& source) { return source.*Member; }
};
struct RangesTag {
  friend auto& MemberOf(RangesTag, const ROOT::RDF::RNTupleDS& source);
};
struct RangeOfSlotTag {
  friend auto& MemberOf(RangeOfSlotTag, const ROOT::RDF::RNTupleDS& source);
};
template struct NtupleMember<RangesTag, &ROOT::RDF::RNTupleDS::fCurrentRanges>;
template struct NtupleMember<RangeOfSlotTag, &ROOT::RDF::RNTupleDS::fSlotsToRangeIdxs>;
#endif

/// Null: the frame reads something else, or this ROOT keeps it elsewhere. They end when ROOT goes on to the next files.
inline ROOT::Experimental::Detail::RNTupleMetrics* MetricsOfPages(const ROOT::RDF::RDataSource* source, unsigned slot) {
#ifdef CREMA_ROOT_HAS_FRAME_PAGES
  const auto* ntuples = dynamic_cast<const ROOT::RDF::RNTupleDS*>(source);
  if (ntuples == nullptr) return nullptr;
  const auto& ranges = MemberOf(RangesTag(), *ntuples);
  const auto& range_of_slot = MemberOf(RangeOfSlotTag(), *ntuples);
  const std::size_t place = slot * ROOT::Internal::RDF::CacheLineStep<std::size_t>();
  if (place >= range_of_slot.size() || range_of_slot[place] >= ranges.size()) return nullptr;
  const auto& pages = ranges[range_of_slot[place]].fSource;
  return pages != nullptr ? &pages->GetMetrics() : nullptr;
#else
  static_cast<void>(source);
  static_cast<void>(slot);
  return nullptr;
#endif
}

/// ROOT keeps the entries that a frame is limited to for classes that derive from its source.
struct GlobalRange : ROOT::RDF::RDataSource {
  using Entries = std::optional<std::pair<ULong64_t, ULong64_t>>;
  static const Entries& Of(const ROOT::RDF::RDataSource& source) { return source.*(&GlobalRange::fGlobalEntryRange); }
};

/// One event loop of a frame.
struct FrameLoop {
  std::uint64_t number = 0;  ///< in the process
  TTree* tree = nullptr;     ///< TTree or TChain that the frame reads; null: it reads something else
  bool has_list = false;     ///< a TEntryList: ROOT's ranges count its places, and one thread has a sample only
  const ROOT::RDF::RDataSource* source = nullptr;
  GlobalRange::Entries limits;  ///< as the loop begins: RNTuple's are counted down
  NamedFilters filters;
};

/// `<file>/<tree>`, as `RSampleInfo::AsString` has it; a tree in a folder of the file has slashes too.
inline std::pair<std::string_view, std::string_view> FileAndTree(std::string_view sample) {
  constexpr std::string_view kSuffix = ".root/";
  const std::size_t suffix = sample.rfind(kSuffix);
  const std::size_t slash = suffix != sample.npos ? suffix + kSuffix.size() - 1 : sample.rfind('/');
  if (slash == sample.npos) return {sample, {}};
  return {sample.substr(0, slash), sample.substr(slash + 1)};
}

/// The time between two tasks of a loop on one thread, as a section of the process. ROOT opens further files in it. Of
/// RNTuple it reads a file on each thread, and begins with the next ones when all of these are read.
class TaskGap {
 public:
  static void Begin(const FrameLoop& loop) { OfThread() = {loop.number, SectionTicks()}; }
  static void End(const FrameLoop& loop) {
    TaskGap& gap = OfThread();
    if (gap.loop_ == loop.number) {
      RecordSectionSince(loop.tree != nullptr ? "between tasks" : "wait for next files", gap.start_ticks_);
    }
    gap = TaskGap();
  }

 private:
  TaskGap() = default;
  TaskGap(std::uint64_t loop, std::uint64_t start_ticks) : loop_(loop), start_ticks_(start_ticks) {}
  static TaskGap& OfThread() {
    thread_local TaskGap gap;
    return gap;
  }

  std::uint64_t loop_ = 0;
  std::uint64_t start_ticks_ = 0;
};

/// The task that runs in a slot. Slots are used by one thread at a time.
class alignas(128) FrameTask {
 public:
  /// Nodes are being set up; where the loop runs on one thread, the next file is opened after that.
  void SetUp(TTreeReader* reader) {
    End();
    ErrorNote::OfThread().Clear();
    reader_ = reader;
    set_up_.emplace("set up task");
  }

  /// The first entry of a sample is about to be processed.
  void Begin(const DataFrameOptions& identity, const FrameLoop& loop, unsigned slot,
             const ROOT::RDF::RSampleInfo& sample) {
    End(false);
    filters_ = &loop.filters;
    slot_ = slot;
    is_tree_ = loop.tree != nullptr;
    pages_ = MetricsOfPages(loop.source, slot);
    if (pages_ != nullptr && !Enabled()) pages_ = nullptr;
    if (pages_ != nullptr) pages_->Enable();
    tree_read_ = reader_ != nullptr ? reader_->GetTree() : loop.tree;
    has_file_ = sample.AsString().rfind("Empty source", 0) != 0;
    NoteOffset(loop, sample);
    if (has_file_) std::tie(file_, tree_) = FileAndTree(sample.AsString());
    dataset_ = identity.dataset;
    if (dataset_.empty()) dataset_ = NameOf(sample);
    pass_ = identity.pass;
    std::size_t before = 0;
    if (identity.counts_loops) {
      before = LoopsBefore(loop.number, dataset_, has_file_ ? std::string_view(file_) : sample.AsString());
    }
    if (pass_.empty() && before > 0) pass_ = "loop " + std::to_string(before + 1);
    counts_clusters_ = before == 0 && !loop.has_list;
    std::tie(next_, last_) = RangeInFile(identity, loop, sample);
    most_ = identity.entries_per_chunk > 0 ? identity.entries_per_chunk : INT64_MAX;
    list_ = loop.has_list && reader_ == nullptr ? loop.tree : nullptr;
    tree_number_ = list_ != nullptr ? list_->GetTreeNumber() : 0;
    if (pages_ != nullptr) ntuple_counters_.Begin(*pages_, "RPageSourceFile.");
    BeginChunk();
  }

  /// Whether an exception left one of its chunks since the last call.
  bool TakeFailure() { return std::exchange(has_failed_, false); }

  void CountEvent() {
    if (events_ == most_) NextChunk();
    if (list_ != nullptr && list_->GetTreeNumber() != tree_number_) NextFile();
    ++events_;
  }

  /// Keeps what was read until now, while ROOT has not gone on to other files.
  void NoteReads() {
    if (pages_ != nullptr && chunk_.has_value() && is_recorded_) ntuple_counters_.Note();
  }

  /// The chunk is over; while an exception leaves the loop, it failed. ROOT may have closed its file already.
  void End(bool file_is_open = true) {
    set_up_.reset();
    if (!chunk_.has_value()) return;
    if (!is_recorded_) return chunk_.reset();
    chunk_->SetEvents(events_);
    cut_flow_.End(*filters_, slot_, events_);
    if (is_tree_) counters_.Record(file_is_open && !MayHaveGoneOn());
    counters_.Uninstall();
    if (pages_ != nullptr) ntuple_counters_.Record(&*chunk_);
    if (!is_tree_ && has_file_) {
      chunk_->SetAttribute("reading", pages_ != nullptr ? kNoColumns : kNotReported);
      if (const std::string_view host = HostOf(file_); !host.empty()) chunk_->SetAttribute("server", host);
    }
    ErrorNote& error = ErrorNote::OfThread();
    const bool is_left = std::uncaught_exceptions() > exceptions_;
    if (!error.empty() && (is_left || events_ < stop_ - next_)) chunk_->Fail(error.text());
    if (is_left) has_failed_ = true;
    chunk_.reset();
    error.Clear();
  }

 private:
  static constexpr std::string_view kTreeClusters = "tree_clusters";
  static constexpr std::string_view kNoColumns = "ROOT does not report the columns of RNTuple in RDataFrame";
  static constexpr std::string_view kNotReported = "ROOT does not report bytes, times and columns of this source";

  static std::string NameOf(const ROOT::RDF::RSampleInfo& sample) {
    try {
      return sample.GetSampleName();
    } catch (const std::logic_error&) {  // the frame was not made of named samples
      return {};
    }
  }

  /// A task's reader of a chain with several trees has opened the next one when it finds that a file has no more.
  bool MayHaveGoneOn() const {
    const auto* chain = reader_ != nullptr ? dynamic_cast<const TChain*>(tree_read_) : nullptr;
    return chain != nullptr && chain->GetNtrees() > 1;
  }

  /// The task's entries in the file of the sample. ROOT counts them from the start of the chain where the frame is
  /// limited to a range, or has friends; on one thread it gives the whole range for each file.
  EntryRange RangeInFile(const DataFrameOptions& identity, const FrameLoop& loop,
                         const ROOT::RDF::RSampleInfo& sample) const {
    const auto range = sample.EntryRange();
    EntryRange entries(range.first, range.second);
    if (loop.has_list) return reader_ == nullptr ? EntryRange() : entries;
    TTree* const tree = tree_read_ != nullptr ? tree_read_->GetTree() : nullptr;
    if (tree == nullptr) return identity.counts_loops ? entries : PartOf(entries, loop);
    if (reader_ == nullptr) {
      const auto& limits = GlobalRange::Of(*loop.source);
      if (!limits.has_value()) return {0, tree->GetEntries()};
      entries = {limits->first, limits->second};
    }
    return InCurrentTree(tree_read_, entries);
  }

  /// For an RNTuple, ROOT gives a file's clusters, whatever the range. The part of a distributed frame begins in its
  /// first file, and its files come in order.
  EntryRange PartOf(EntryRange in_file, const FrameLoop& loop) const {
    if (!loop.limits.has_value()) return in_file;
    const EntryRange limits(loop.limits->first, loop.limits->second);
    const EntryRange part(std::max(in_file.first, limits.first - offset_),
                          std::min(in_file.second, limits.second - offset_));
    return part.first < part.second ? part : in_file;
  }

  /// Adds up the files before the one of the sample.
  void NoteOffset(const FrameLoop& loop, const ROOT::RDF::RSampleInfo& sample) {
    if (loop_number_ != loop.number) {
      loop_number_ = loop.number;
      offset_ = 0;
    } else if (sample_name_ != sample.AsString()) {
      offset_ += sample_stop_;
    }
    sample_name_ = sample.AsString();
    sample_stop_ = static_cast<std::int64_t>(sample.EntryRange().second);
  }

  void BeginChunk() {
    stop_ = last_ - next_ > most_ ? next_ + most_ : last_;
    Chunk where(dataset_);
    where.pass = pass_;
    if (last_ > 0) {  // else it is not known
      where.entry_start = next_;
      where.entry_stop = stop_;
    }
    if (has_file_) {
      where.file = file_;
      where.tree = tree_;
    }
    events_ = 0;
    exceptions_ = std::uncaught_exceptions();
    chunk_.emplace(where);
    is_recorded_ = Enabled();
    if (!is_recorded_) return;
    TTree* const tree = tree_read_ != nullptr ? tree_read_->GetTree() : nullptr;
    if (tree != nullptr && counts_clusters_) RecordMetric(kTreeClusters, CountClusters(tree, {next_, stop_}), "count");
    counters_.Install(&*chunk_, tree_read_);
    cut_flow_.Begin(*filters_, slot_);
  }

  void NextChunk() {
    next_ += events_;
    NoteReads();
    End();
    ntuple_counters_.Continue();
    BeginChunk();
  }

  /// One thread has gone on to another file of a chain with a TEntryList. The first event of it has been loaded.
  void NextFile() {
    End(false);
    tree_number_ = list_->GetTreeNumber();
    if (const TFile* const file = list_->GetCurrentFile(); file != nullptr) file_ = file->GetName();
    BeginChunk();
  }

  std::int64_t events_ = 0;
  std::int64_t most_ = INT64_MAX;  ///< entries in a chunk
  std::int64_t next_ = 0;          ///< first entry of the chunk
  std::int64_t stop_ = 0;          ///< one past its last entry
  std::int64_t last_ = 0;          ///< one past the task's last entry
  std::uint64_t loop_number_ = 0;  ///< of the last sample,
  std::string sample_name_;        ///< its name,
  std::int64_t sample_stop_ = 0;   ///< one past its last entry,
  std::int64_t offset_ = 0;        ///< and the entries of the files before it
  int exceptions_ = 0;             ///< in flight when the chunk began
  bool has_failed_ = false;
  bool is_recorded_ = false;  ///< the chunk, from its begin on
  bool is_tree_ = false;
  bool counts_clusters_ = true;    ///< no loop of the process read the file before
  TTreeReader* reader_ = nullptr;  ///< null where ROOT hides it
  TTree* tree_read_ = nullptr;
  TTree* list_ = nullptr;  ///< the chain, where one thread reads a TEntryList
  int tree_number_ = 0;    ///< of it
  bool has_file_ = false;
  std::string dataset_;
  std::string pass_;
  std::string file_;
  std::string tree_;
  std::optional<TrackSection> set_up_;
  std::optional<TrackMetrics> chunk_;
  ReadCounters counters_;
  ROOT::Experimental::Detail::RNTupleMetrics* pages_ = nullptr;  ///< of an RNTuple; null: not reported
  NtupleCounters ntuple_counters_;
  const NamedFilters* filters_ = nullptr;
  unsigned slot_ = 0;
  CutFlow cut_flow_;
};

/// The tasks of a frame, by slot, over all of its event loops.
class FrameTasks {
 public:
  FrameTasks(DataFrameOptions identity, unsigned slots) : identity_(std::move(identity)), tasks_(slots) {
    if (identity_.counts_loops) flows_.Expect(identity_.dataset, identity_.pass);
  }

  FrameTask& operator[](unsigned slot) { return tasks_[slot]; }
  /// From the next loop on.
  void SetIdentity(const DataFrameOptions& identity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_identity_ = identity;
    if (identity.counts_loops) flows_.Expect(identity.dataset, identity.pass);
  }
  void BeginTask(unsigned slot, TTreeReader* reader) {
    TaskGap::End(loop_);
    tasks_[slot].SetUp(reader);
  }
  void EndTask(unsigned slot) {
    // On one thread ROOT may have closed the file.
    if (tasks_.size() > 1) tasks_[slot].NoteReads();
    tasks_[slot].End();
    TaskGap::Begin(loop_);
  }
  void BeginLoop(ROOT::Detail::RDF::RLoopManager* loop_manager) {
    std::string flow;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (next_identity_.has_value()) identity_ = *std::exchange(next_identity_, std::nullopt);
      flow = flows_.Next(identity_.dataset, identity_.pass, !identity_.counts_loops);
    }
    loop_.number = NextLoop();
    loop_.source = loop_manager->GetDataSource();
    auto* trees = dynamic_cast<ROOT::Internal::RDF::RTTreeDS*>(loop_manager->GetDataSource());
    if (loop_.source != nullptr) loop_.limits = GlobalRange::Of(*loop_.source);
    loop_.tree = trees != nullptr ? trees->GetTree() : nullptr;
    loop_.has_list = loop_.tree != nullptr && loop_.tree->GetEntryList() != nullptr;
    exceptions_ = std::uncaught_exceptions();
    loop_.filters.Find(*loop_manager, std::move(flow));
    error_notes_.emplace();
    written_.emplace(tasks_.size() > 1);
  }
  /// Whether ROOT may close files before their chunks end, so that what was read has to be noted after each event.
  bool must_note_reads() const { return tasks_.size() == 1 && loop_.source != nullptr && loop_.tree == nullptr; }
  bool is_in_loop() const { return error_notes_.has_value(); }
  void BeginMerging() { merging_.emplace("merge results"); }
  /// ROOT has dropped the loop's actions; where an exception ended the loop, it is on its way.
  void EndLoop() {
    merging_.reset();
    written_.reset();
    bool has_failed = false;
    for (FrameTask& task : tasks_) {
      task.End(false);
      has_failed |= task.TakeFailure();
    }
    const bool is_left = std::uncaught_exceptions() > exceptions_;
    if (!RecordUnopened(loop_.tree, identity_.dataset, identity_.pass) && is_left && !has_failed) {
      const TChainElement* const file = FileOfErrors(loop_.tree);
      if (file != nullptr) RecordFailedInput(identity_.dataset, identity_.pass, file->GetTitle(), file->GetName());
      if (file == nullptr) RecordFailedInput(identity_.dataset, identity_.pass, {}, {});
    }
    error_notes_.reset();
  }
  void BeginSample(unsigned slot, const ROOT::RDF::RSampleInfo& sample) {
    tasks_[slot].Begin(identity_, loop_, slot, sample);
  }

 private:
  DataFrameOptions identity_;
  std::mutex mutex_;  ///< for the next one, and `flows_`
  std::optional<DataFrameOptions> next_identity_;
  FrameLoop loop_;
  FlowNames flows_;
  int exceptions_ = 0;  ///< in flight when the loop began
  std::vector<FrameTask> tasks_;
  std::optional<ErrorNotes> error_notes_;
  std::optional<TrackSection> merging_;
  std::optional<WrittenBytes> written_;
};

/// Booked at the head of the frame, so it sees each entry that is read.
class FrameAction : public ROOT::Detail::RDF::RActionImpl<FrameAction> {
 public:
  using Result_t = int;  ///< nothing: an action has to have a result

  FrameAction(std::shared_ptr<FrameTasks> tasks, std::function<void()> loop_begins)
      : tasks_(std::move(tasks)), loop_begins_(std::move(loop_begins)) {}
  FrameAction(FrameAction&&) = default;
  FrameAction(const FrameAction&) = delete;

  std::shared_ptr<int> GetResultPtr() const { return result_; }
  std::string GetActionName() const { return "crema"; }
  void Initialize() { loop_begins_(); }
  void InitTask(TTreeReader* reader, unsigned slot) { tasks_->BeginTask(slot, reader); }
  ROOT::RDF::SampleCallback_t GetSampleCallback() final {
    return [tasks = tasks_](unsigned slot, const ROOT::RDF::RSampleInfo& sample) { tasks->BeginSample(slot, sample); };
  }
  void Exec(unsigned slot) { (*tasks_)[slot].CountEvent(); }
  void FinalizeTask(unsigned slot) { tasks_->EndTask(slot); }
  void Finalize() { tasks_->BeginMerging(); }

 private:
  std::shared_ptr<FrameTasks> tasks_;
  std::function<void()> loop_begins_;
  std::shared_ptr<int> result_ = std::make_shared<int>(0);
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_ROOT_FRAME_ACTION_H_
