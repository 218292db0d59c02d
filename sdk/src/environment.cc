#include "environment.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmath>
#include <string_view>

namespace crema {
namespace internal {
namespace {

/// Empty where the variable is not set.
const char* Text(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

bool IsOne(const char* name) { return strcmp(Text(name), "1") == 0; }

std::optional<std::int64_t> Integer(const char* name) {
  const char* const text = Text(name);
  char* end = nullptr;
  const long long value = strtoll(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value <= 0 || value == LLONG_MAX) return std::nullopt;
  return value;
}

std::optional<double> Seconds(const char* name) {
  const char* const text = Text(name);
  char* end = nullptr;
  const double value = strtod(text, &end);
  if (*text == '\0' || *end != '\0' || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

/// `told`, or where that is empty what the variable says; cut on a code point.
FixedText<kMaxOptionBytes> TextOr(std::string_view told, const char* name) {
  return FixedText<kMaxOptionBytes>(CutOnCodePoint(told.empty() ? Text(name) : told, kMaxOptionBytes));
}

}  // namespace

bool SwitchedOffByEnvironment() noexcept { return IsOne("CREMA_OFF"); }

Settings SettingsFromEnvironment(const OptionTexts& texts, const Options& options) noexcept {
  Settings settings;
  // Longer than a path may be, it stays too long for one when it is cut: it never becomes another directory.
  settings.directory = FixedText<kMaxPathBytes>(texts.directory.empty() ? Text("CREMA_DIR") : texts.directory);
  settings.run_id = TextOr(texts.run_id, "CREMA_RUN_ID");
  settings.pass = TextOr(texts.pass, "CREMA_PASS");
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

FixedText<kMaxPathBytes> AbsolutePath(const FixedText<kMaxPathBytes>& path) noexcept {
  char here[PATH_MAX];
  if (path.empty() || path.view()[0] == '/' || getcwd(here, sizeof here) == nullptr) return path;
  FixedText<kMaxPathBytes> absolute{std::string_view(here)};
  absolute.Append("/");
  absolute.Append(path.view());
  return absolute;
}

}  // namespace internal
}  // namespace crema
