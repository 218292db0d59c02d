// LoopLog: the just-in-time compilation of RDataFrame's nodes as a section.
#ifndef CREMA_ROOT_LOOP_LOG_H_
#define CREMA_ROOT_LOOP_LOG_H_

#include <ROOT/RDF/Utils.hxx>
#include <ROOT/RLogger.hxx>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "crema/root/late_section.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema {
namespace internal {

/// RDataFrame compiles before any action hears of a loop. Only its log tells when: at the level of information, which
/// is off. So the level is raised, and what the program did not ask for is swallowed here. The level is one that nobody
/// sets, so that one which the program sets later is known as its own.
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

  static void Hear(std::string_view message) noexcept {
    constexpr std::string_view kBegin = "Starting event loop";
    constexpr std::string_view kEnd = "Just-in-time compilation phase completed";
    thread_local std::uint64_t start_ticks = 0;
    if (message.substr(0, kBegin.size()) == kBegin) {
      start_ticks = SectionTicks();
    } else if (message.substr(0, kEnd.size()) == kEnd) {
      RecordSectionSince("just-in-time compilation", start_ticks);
      start_ticks = 0;
    }
  }
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_ROOT_LOOP_LOG_H_
