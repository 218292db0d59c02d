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

/// Finite, and not negative.
std::optional<double> Number(const char* name) {
  const char* const text = Text(name);
  char* end = nullptr;
  const double value = strtod(text, &end);
  if (*text == '\0' || *end != '\0' || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

/// What was told, or where that is empty what the variable says.
std::string_view TextOr(std::string_view told, const char* name) { return told.empty() ? Text(name) : told; }

}  // namespace

bool SwitchedOffByEnvironment() noexcept { return IsOne("CREMA_OFF"); }

double AskedStacks() noexcept { return Number("CREMA_STACKS").value_or(0); }
bool EnvironmentAsksForAllocations() noexcept { return IsOne("CREMA_ALLOCATIONS"); }

bool EnvironmentNamesDirectory() noexcept { return *Text("CREMA_DIR") != '\0'; }

void ReadSettings(const OptionTexts& texts, const Options& others, Settings* settings) noexcept {
  // Longer than a path may be, it stays too long for one when it is cut: it never becomes another directory.
  settings->directory = OptionText(TextOr(texts.directory, "CREMA_DIR"));
  settings->run_id = OptionText(CutOnCodePoint(TextOr(texts.run_id, "CREMA_RUN_ID"), kMaxPathBytes));
  settings->pass = OptionText(CutOnCodePoint(TextOr(texts.pass, "CREMA_PASS"), kMaxPathBytes));
  settings->threads = others.threads;
  if (!settings->threads.has_value()) {
    const auto threads = Integer("CREMA_THREADS");
    if (threads.has_value() && *threads <= INT_MAX) settings->threads = static_cast<int>(*threads);
  }
  settings->interval_seconds = others.interval_seconds.value_or(Number("CREMA_INTERVAL").value_or(1.0));
  settings->total_events = others.total_events.has_value() ? others.total_events : Integer("CREMA_TOTAL_EVENTS");
  settings->max_log_bytes = others.max_log_bytes.has_value() ? others.max_log_bytes : Integer("CREMA_MAX_LOG_BYTES");
  settings->trace = others.trace.value_or(IsOne("CREMA_TRACE"));
  settings->summary = IsOne("CREMA_SUMMARY");
  settings->record_arguments = others.record_arguments.value_or(!IsOne("CREMA_NO_ARGUMENTS"));
}

void SetAbsolute(std::string_view path, OptionText* absolute) noexcept {
  *absolute = OptionText();
  char here[PATH_MAX];
  if (!path.empty() && path[0] != '/' && getcwd(here, sizeof here) != nullptr) {
    absolute->Append(here);
    absolute->Append("/");
  }
  absolute->Append(path);
}

}  // namespace internal
}  // namespace crema
