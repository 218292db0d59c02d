// TrackDataFrame: the tasks of RDataFrame's event loops as chunks.
#ifndef CREMA_ROOT_TRACK_DATA_FRAME_H_
#define CREMA_ROOT_TRACK_DATA_FRAME_H_

#include <TROOT.h>

#include <ROOT/RDF/RInterface.hxx>
#include <ROOT/RDF/RLoopManager.hxx>
#include <ROOT/RDF/Utils.hxx>
#include <ROOT/RLogger.hxx>
#include <ROOT/RResultPtr.hxx>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "crema/recorder.h"
#include "crema/root/frame_action.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema {

namespace internal {

/// RDataFrame compiles before any action hears of a loop. Only its log says how long: at the level of information,
/// which is off. So the level is raised, and what the program did not ask for is swallowed here. The level is one that
/// nobody sets, so that one which the program sets later is known as its own.
class LoopLog final : public ROOT::RLogHandler {
 public:
  /// Hears the log as long as one is alive.
  class Use {
   public:
    Use() {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (users_++ > 0) return;
      // Never removed: another thread may be about to call it.
      static const bool is_installed = Install();
      static_cast<void>(is_installed);
      Own().store(Channel().SetVerbosity(kHeard));
    }
    ~Use() {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--users_ == 0 && Channel().GetVerbosity() == kHeard) Channel().SetVerbosity(Own().load());
    }
    Use(Use&&) = delete;
  };

  /// Whether other handlers get it.
  bool Emit(const ROOT::RLogEntry& entry) override {
    if (entry.fChannel != &Channel()) return true;
    Hear(entry.fMessage);
    if (Channel().GetVerbosity() != kHeard) return true;
    const ROOT::ELogLevel own = Own().load();
    return entry.fLevel <= (own == ROOT::ELogLevel::kUnset ? ROOT::RLogManager::Get().GetVerbosity() : own);
  }

 private:
  static constexpr auto kHeard = static_cast<ROOT::ELogLevel>(static_cast<unsigned>(ROOT::ELogLevel::kDebug) + 7);

  static ROOT::RLogChannel& Channel() { return ROOT::Detail::RDF::RDFLogChannel(); }
  static bool Install() {
    First();
    ROOT::RLogManager::Get().PushFront(std::make_unique<LoopLog>());
    return true;
  }
  inline static std::mutex mutex_;
  inline static int users_ = 0;
  /// The program's level.
  static std::atomic<ROOT::ELogLevel>& Own() {
    static std::atomic<ROOT::ELogLevel> own{ROOT::ELogLevel::kUnset};
    return own;
  }

  /// A pair of clocks that were read together.
  struct Reading {
    std::uint64_t ticks = SectionTicks();
    std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
  };
  /// As the log was first heard; before any loop that crema sees.
  static const Reading& First() {
    static const Reading first;
    return first;
  }
  /// The section that took so long and ends now.
  static void RecordLast(double seconds) noexcept {
    const Reading now;
    const std::chrono::duration<double> passed = now.time - First().time;
    if (now.ticks == 0 || First().ticks == 0 || !(seconds > 0) || passed.count() <= seconds) return;
    const double ticks = static_cast<double>(now.ticks - First().ticks) * (seconds / passed.count());
    RecordSectionSince("just-in-time compilation", now.ticks - static_cast<std::uint64_t>(ticks));
  }
  /// `Just-in-time compilation phase completed in 0.72 seconds.`, and `… phase for RunGraphs (2 …) completed in …`.
  static void Hear(const std::string& message) noexcept {
    constexpr std::string_view kCompleted = "completed in ";
    if (message.rfind("Just-in-time compilation phase", 0) != 0) return;
    const std::size_t at = message.find(kCompleted);
    if (at != message.npos) RecordLast(std::strtod(message.c_str() + at + kCompleted.size(), nullptr));
  }
};

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
               DataFrameOptions identity)
      : node_(std::move(node)),
        loop_manager_(std::move(loop_manager)),
        tasks_(std::make_shared<FrameTasks>(std::move(identity), loop_manager_->GetNSlots())) {}

  /// For a frame that is tracked already: the one that it has, which takes this identity from its next loop on.
  static std::shared_ptr<FrameTracker> Find(const std::shared_ptr<ROOT::Detail::RDF::RLoopManager>& loop_manager,
                                            const DataFrameOptions& identity) {
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
  auto tracker = internal::FrameTracker::Find(loop_manager, options);
  if (tracker == nullptr) {
    tracker = std::make_shared<internal::FrameTracker>(std::make_shared<Node>(node), loop_manager, options);
    tracker->Book();
    tracker->Enter();
  }
  return TrackedDataFrame(std::move(tracker));
}

}  // namespace crema

#endif  // CREMA_ROOT_TRACK_DATA_FRAME_H_
