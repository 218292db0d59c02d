// TrackDataFrame: the tasks of RDataFrame's event loops as chunks.
#ifndef CREMA_ROOT_TRACK_DATA_FRAME_H_
#define CREMA_ROOT_TRACK_DATA_FRAME_H_

#include <TROOT.h>

#include <ROOT/RDF/RInterface.hxx>
#include <ROOT/RDF/RLoopManager.hxx>
#include <ROOT/RResultPtr.hxx>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "crema/recorder.h"
#include "crema/root/frame_action.h"
#include "crema/root/loop_log.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

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

/// ROOT keeps a node's loop manager for classes that derive from it.
struct LoopManagerOf : ROOT::RDF::RInterfaceBase {
  static const std::shared_ptr<ROOT::Detail::RDF::RLoopManager>& Get(const ROOT::RDF::RInterfaceBase& node) {
    return node.*(&LoopManagerOf::fLoopManager);
  }
};

/// Keeps a `FrameAction` booked for the frame's next event loop. RDataFrame forgets actions when a loop has run, and
/// then drops the callbacks of that loop: the end of such a callback is where the next action is booked.
class FrameTracker : public std::enable_shared_from_this<FrameTracker> {
 public:
  /// `node`: any of the frame's. A node owns those before it, the head included; its pointer to the head owns nothing.
  FrameTracker(std::shared_ptr<const void> node, std::shared_ptr<ROOT::Detail::RDF::RLoopManager> loop_manager,
               FrameIdentity identity)
      : node_(std::move(node)),
        loop_manager_(std::move(loop_manager)),
        tasks_(std::make_shared<FrameTasks>(std::move(identity), loop_manager_->GetNSlots())) {}

  /// For a frame that is tracked already: the one that it has, which takes this identity from its next loop on.
  static std::shared_ptr<FrameTracker> Find(const std::shared_ptr<ROOT::Detail::RDF::RLoopManager>& loop_manager,
                                            const FrameIdentity& identity) {
    const std::lock_guard<std::mutex> lock(Mutex());
    const auto known = All().find(loop_manager.get());
    auto tracker = known != All().end() ? known->second.lock() : nullptr;
    if (tracker != nullptr) tracker->tasks_->SetIdentity(identity);
    return tracker;
  }
  ~FrameTracker() {
    const std::lock_guard<std::mutex> lock(Mutex());
    const auto known = All().find(loop_manager_.get());
    if (known != All().end() && known->second.expired()) All().erase(known);
  }
  FrameTracker(const FrameTracker&) = delete;
  FrameTracker& operator=(const FrameTracker&) = delete;

  /// From now on `Find` finds it.
  void Enter() {
    const std::lock_guard<std::mutex> lock(Mutex());
#ifndef __CLING__  // whose code is gone then; Python lets go of its objects before
    // ROOT is torn down after that, and before the handles that the program keeps in static objects.
    static const int is_registered = std::atexit(&FrameTracker::ReleaseAll);
    static_cast<void>(is_registered);
#endif
    All()[loop_manager_.get()] = weak_from_this();
  }
  /// Throws what RDataFrame's `Book` throws.
  void Book() {
    using Head = ROOT::RDF::RInterface<ROOT::Detail::RDF::RLoopManager>;
    FrameAction action(tasks_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->LoopBegins();
    });
    booked_ = Head(loop_manager_).Book<>(std::move(action));
  }

 private:
  /// Keeps the tracker while a loop runs: ROOT goes through its actions then, and none of them may go.
  class LoopEnd {
   public:
    explicit LoopEnd(std::shared_ptr<FrameTracker> tracker) : tracker_(std::move(tracker)) {}
    ~LoopEnd() {
      tracker_->tasks_->EndLoop();
      if (tracker_.use_count() == 1) return;  // its handle went meanwhile
      try {
        tracker_->Book();
      } catch (...) {  // later loops of the frame are not tracked; the program goes on
      }
    }
    LoopEnd(const LoopEnd&) = delete;
    LoopEnd& operator=(const LoopEnd&) = delete;

   private:
    std::shared_ptr<FrameTracker> tracker_;
  };

  /// The process ends: lets go of the frames that no loop runs of.
  static void ReleaseAll() {
    Trackers all;
    {
      const std::lock_guard<std::mutex> lock(Mutex());
      all.swap(All());
    }
    for (const auto& [frame, weak] : all) {
      if (const auto tracker = weak.lock(); tracker != nullptr && !tracker->tasks_->is_in_loop()) tracker->Release();
    }
  }
  void Release() {
    booked_ = {};
    tasks_.reset();
    log_.reset();
    node_.reset();
    loop_manager_.reset();
  }

  void LoopBegins() {
    tasks_->BeginLoop(loop_manager_.get());
    // An action at the head asks for every entry. This one does not: the loop ends when a Range has had enough.
    loop_manager_->StopProcessing();
    if (tasks_->must_note_reads()) {
      loop_manager_->RegisterCallback(1, [tasks = tasks_](unsigned slot) { (*tasks)[slot].NoteReads(); });
    }
    loop_manager_->RegisterCallback(0, [end = std::make_shared<LoopEnd>(shared_from_this())](unsigned) {});
  }

  using Trackers = std::map<const ROOT::Detail::RDF::RLoopManager*, std::weak_ptr<FrameTracker>>;
  static Trackers& All() {
    static auto* const all = new Trackers();  // a handle may end when the process does
    return *all;
  }
  static std::mutex& Mutex() {
    static auto* const mutex = new std::mutex();
    return *mutex;
  }

  std::shared_ptr<const void> node_;
  std::shared_ptr<ROOT::Detail::RDF::RLoopManager> loop_manager_;
  std::shared_ptr<FrameTasks> tasks_;
  ROOT::RDF::RResultPtr<int> booked_;
  std::optional<LoopLog::Use> log_{std::in_place};
};

}  // namespace internal

/// Keeps a frame tracked; movable. Chunks are recorded as long as it lives, and it keeps the frame alive.
class TrackedDataFrame {
 public:
  TrackedDataFrame() = default;
  explicit TrackedDataFrame(std::shared_ptr<internal::FrameTracker> tracker) : tracker_(std::move(tracker)) {}

 private:
  std::shared_ptr<internal::FrameTracker> tracker_;
};

namespace internal {

/// CPUs that affinity and quotas allow: sdk/src/kernel/proc_file.h.
std::optional<double> AllowedCores() noexcept;

/// Whether recording is on. Where it begins here, the process declares the threads of ROOT's pool, if it may have a CPU
/// for each: a loop with one task shows one thread only.
inline bool BeginWithThreadPool() {
  const auto is_set = [](const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0';
  };
  const bool is_undecided = g_mode.load(std::memory_order_relaxed) == kModeUndecided;
  if (is_undecided && ROOT::IsImplicitMTEnabled() && is_set("CREMA_DIR") && !is_set("CREMA_THREADS")) {
    Options options;
    options.threads = static_cast<int>(ROOT::GetThreadPoolSize());
    if (AllowedCores().value_or(0) >= *options.threads) Enable(options);
  }
  return Enabled();
}

}  // namespace internal

/// Makes a chunk of each task of each event loop of the frame that `node` belongs to (any node), on the thread that
/// runs it: file, tree, entry range, events read, bytes, columns, and time for reading and decompression. Does nothing
/// when recording is off. Call it before you book actions: their set-up is then measured too. A frame is tracked once:
/// of several calls the options of the last one hold, for the loops that begin then. Throws nothing but what
/// RDataFrame's `Book` throws.
///
///     ROOT::RDataFrame events("Events", files);
///     auto tracked = crema::TrackDataFrame(events, {"ttbar"});
template <class Node>
[[nodiscard]] TrackedDataFrame TrackDataFrame(const Node& node, const DataFrameOptions& options = {}) {
  if (!internal::BeginWithThreadPool()) return TrackedDataFrame();
  const auto& loop_manager = internal::LoopManagerOf::Get(node);
  internal::FrameIdentity identity{options.dataset, options.pass, options.entries_per_chunk, options.counts_loops};
  auto tracker = internal::FrameTracker::Find(loop_manager, identity);
  if (tracker == nullptr) {
    tracker = std::make_shared<internal::FrameTracker>(std::make_shared<Node>(node), loop_manager, std::move(identity));
    tracker->Book();
    tracker->Enter();
  }
  return TrackedDataFrame(std::move(tracker));
}

}  // namespace crema

#endif  // CREMA_ROOT_TRACK_DATA_FRAME_H_
