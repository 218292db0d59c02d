#include "environment.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <string_view>

namespace crema {
namespace internal {
namespace {

std::string Text(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool IsOne(const char* name) { return Text(name) == "1"; }

std::optional<std::int64_t> Integer(const char* name) {
  const std::string text = Text(name);
  char* end = nullptr;
  const long long value = strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value <= 0 || value == LLONG_MAX) return std::nullopt;
  return value;
}

std::optional<double> Seconds(const char* name) {
  const std::string text = Text(name);
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace

bool SwitchedOffByEnvironment() noexcept { return IsOne("CREMA_OFF"); }

Settings SettingsFromEnvironment(const Options& options) {
  Settings settings;
  settings.directory = options.directory.empty() ? Text("CREMA_DIR") : options.directory;
  settings.run_id = options.run_id.empty() ? Text("CREMA_RUN_ID") : options.run_id;
  settings.pass = options.pass.empty() ? Text("CREMA_PASS") : options.pass;
  settings.threads = options.threads;
  if (!settings.threads.has_value()) {
    const auto threads = Integer("CREMA_THREADS");
    if (threads.has_value() && *threads <= INT_MAX) settings.threads = static_cast<int>(*threads);
  }
  settings.interval_seconds = options.interval_seconds.value_or(Seconds("CREMA_INTERVAL").value_or(1.0));
  settings.total_events = options.total_events.has_value() ? options.total_events : Integer("CREMA_TOTAL_EVENTS");
  settings.trace = options.trace.value_or(IsOne("CREMA_TRACE"));
  settings.summary = IsOne("CREMA_SUMMARY");
  settings.record_arguments = options.record_arguments.value_or(!IsOne("CREMA_NO_ARGUMENTS"));
  return settings;
}

std::string AbsolutePath(const std::string& path) {
  char here[PATH_MAX];
  if (path.empty() || path[0] == '/' || getcwd(here, sizeof here) == nullptr) return path;
  return std::string(here) + "/" + path;
}

}  // namespace internal
}  // namespace crema
