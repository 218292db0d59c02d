// LoopLog: the just-in-time compilation of RDataFrame's nodes as a section.
#ifndef CREMA_ROOT_LOOP_LOG_H_
#define CREMA_ROOT_LOOP_LOG_H_

#include <ROOT/RDF/Utils.hxx>
#include <ROOT/RLogger.hxx>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "crema/root/late_section.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

/// RDataFrame compiles before any action hears of a loop. Only its log says how long: at the level of information,
/// which is off. So the level is raised, and what the program did not ask for is swallowed here. The level is one that
/// nobody sets, so that one which the program sets later is known as its own.
class LoopLog final : public ROOT::RLogHandler {
 public:
  /// Hears the log as long as one is alive.
  class Use {
   public:
    Use() {
      const std::lock_guard<std::mutex> lock(Mutex());
      if (Users()++ > 0) return;
      // Never removed: another thread may be about to call it.
      static const bool is_installed = Install();
      static_cast<void>(is_installed);
      Own().store(Channel().SetVerbosity(kHeard));
    }
    ~Use() {
      const std::lock_guard<std::mutex> lock(Mutex());
      if (--Users() == 0 && Channel().GetVerbosity() == kHeard) Channel().SetVerbosity(Own().load());
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
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
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static int& Users() {
    static int users = 0;
    return users;
  }
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

}  // namespace crema::internal

#endif  // CREMA_ROOT_LOOP_LOG_H_
