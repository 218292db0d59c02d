// WrittenBytes: what ROOT writes to files while event loops run, such as RDataFrame's Snapshot.
#ifndef CREMA_ROOT_WRITTEN_BYTES_H_
#define CREMA_ROOT_WRITTEN_BYTES_H_

#include <TFile.h>
#include <TMemFile.h>
#include <TVirtualMonitoring.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "crema/record_metric.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

/// Hears of each write, and counts those to files in memory, in which the threads of a Snapshot collect what they
/// write. ROOT's own count of what it wrote has them too. The rest is for the program's own writer, if there is one.
class MemoryFileWrites final : public TVirtualMonitoringWriter {
 public:
  /// Never destroyed: another thread may be about to call it.
  static MemoryFileWrites& Instance() {
    static auto* const instance = new MemoryFileWrites();
    return *instance;
  }
  void Install() {
    if (gMonitoringWriter == this || (is_in_place_ && gMonitoringWriter != Own())) return;
    own_.store(gMonitoringWriter);
    gMonitoringWriter = this;
    is_in_place_ = true;
  }
  void Uninstall() {
    is_in_place_ = is_in_place_ && gMonitoringWriter != this;
    if (gMonitoringWriter == this) gMonitoringWriter = own_.load();
    const std::lock_guard<std::mutex> lock(mutex_);
    files_.clear();
  }
  /// Since the last call.
  std::int64_t TakeBytes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::int64_t bytes = bytes_;
    bytes_ = 0;
    return bytes;
  }

  Bool_t SendFileWriteProgress(TFile* file) override {
    if (dynamic_cast<TMemFile*>(file) != nullptr) Note(*file);
    return Own() != nullptr && Own()->SendFileWriteProgress(file);
  }

  // The rest is the program's own.
  Bool_t SendFileCloseEvent(TFile* file) override { return Own() != nullptr && Own()->SendFileCloseEvent(file); }
  Bool_t SendFileReadProgress(TFile* file) override { return Own() != nullptr && Own()->SendFileReadProgress(file); }
  Bool_t SendParameters(TList* values, const char* identifier) override {
    return Own() != nullptr && Own()->SendParameters(values, identifier);
  }
  Bool_t SendInfoTime() override { return Own() != nullptr && Own()->SendInfoTime(); }
  Bool_t SendInfoUser(const char* user) override { return Own() != nullptr && Own()->SendInfoUser(user); }
  Bool_t SendInfoDescription(const char* tag) override { return Own() != nullptr && Own()->SendInfoDescription(tag); }
  Bool_t SendInfoStatus(const char* status) override { return Own() != nullptr && Own()->SendInfoStatus(status); }
  Bool_t SendFileOpenProgress(TFile* file, TList* phases, const char* phase, Bool_t send) override {
    return Own() != nullptr && Own()->SendFileOpenProgress(file, phases, phase, send);
  }
  Bool_t SendProcessingStatus(const char* status, Bool_t restart) override {
    return Own() != nullptr && Own()->SendProcessingStatus(status, restart);
  }
  Bool_t SendProcessingProgress(Double_t events, Double_t bytes, Bool_t force) override {
    return Own() != nullptr && Own()->SendProcessingProgress(events, bytes, force);
  }
  void SetLogLevel(const char* level) override {
    if (Own() != nullptr) Own()->SetLogLevel(level);
  }
  void Verbose(Bool_t on) override {
    if (Own() != nullptr) Own()->Verbose(on);
  }

 private:
  MemoryFileWrites() = default;
  TVirtualMonitoringWriter* Own() const { return own_.load(); }
  void Note(const TFile& file) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::int64_t& seen = files_[&file];
    const std::int64_t bytes = file.GetBytesWritten();
    if (bytes < seen) seen = 0;  // another file in the same place
    bytes_ += bytes - seen;
    seen = bytes;
  }

  std::atomic<TVirtualMonitoringWriter*> own_{nullptr};
  bool is_in_place_ = false;  ///< perhaps below a writer of the program's, which may call it
  std::mutex mutex_;
  std::int64_t bytes_ = 0;
  std::unordered_map<const TFile*, std::int64_t> files_;  ///< what each had written when it was last heard of
};

/// While one is alive, an event loop runs. What ROOT writes meanwhile is of the process: ROOT writes when tasks are
/// over and when it merges, so no chunk wrote it.
class WrittenBytes {
 public:
  /// `on_threads`: the loop runs on several threads.
  explicit WrittenBytes(bool on_threads) : on_threads_(on_threads) {
    Shared& shared = Shared::Instance();
    const std::lock_guard<std::mutex> lock(shared.mutex);
    if (shared.users++ == 0) shared.start_bytes = TFile::GetFileBytesWritten();
    if (on_threads_ && shared.on_threads++ == 0) MemoryFileWrites::Instance().Install();
  }
  ~WrittenBytes() {
    Shared& shared = Shared::Instance();
    const std::lock_guard<std::mutex> lock(shared.mutex);
    if (on_threads_ && --shared.on_threads == 0) MemoryFileWrites::Instance().Uninstall();
    --shared.users;
    const std::int64_t now_bytes = TFile::GetFileBytesWritten();
    const std::int64_t bytes = now_bytes - shared.start_bytes - MemoryFileWrites::Instance().TakeBytes();
    // Where another loop is about to report a write in memory, it is taken off at the end of that one.
    shared.start_bytes = bytes > 0 ? now_bytes : now_bytes - bytes;
    if (bytes > 0) RecordProcessMetric("bytes_written", bytes, "B");
  }
  WrittenBytes(const WrittenBytes&) = delete;
  WrittenBytes& operator=(const WrittenBytes&) = delete;

 private:
  struct Shared {
    static Shared& Instance() {
      static auto* const instance = new Shared();
      return *instance;
    }
    std::mutex mutex;
    int users = 0;
    int on_threads = 0;
    std::int64_t start_bytes = 0;  ///< of what ROOT wrote, those that were reported before
  };

  bool on_threads_;
};

}  // namespace crema::internal

#endif  // CREMA_ROOT_WRITTEN_BYTES_H_
