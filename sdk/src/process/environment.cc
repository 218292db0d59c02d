#include "process/environment.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cmath>

namespace crema::internal {
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

/// Finite, and not negative. Its decimal point is a point, whatever locale the program has set.
std::optional<double> Number(const char* name) {
  const char* const text = Text(name);
  char* end = nullptr;
  const double value = strtod_l(text, &end, newlocale(LC_ALL_MASK, "C", nullptr));
  if (*text == '\0' || *end != '\0' || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

/// Where the process was when the SDK was loaded, if CREMA_DIR is relative: the program may change directory before it
/// records. Empty: not known.
char g_loaded_in[PATH_MAX];

/// Before the constructors of the program, which may change directory.
__attribute__((constructor(101))) void NoteDirectory() {
  const KeptErrno kept_errno;
  const char* const directory = Text("CREMA_DIR");
  if (*directory != '\0' && *directory != '/' && getcwd(g_loaded_in, sizeof g_loaded_in) == nullptr) {
    g_loaded_in[0] = '\0';
  }
}

/// Makes the directory that the code gives, or else CREMA_DIR, absolute. A path that is too long is cut, and is still
/// too long then: it never becomes another directory.
void SetDirectory(std::string_view given, Settings* settings) {
  const std::string_view path = given.empty() ? Text("CREMA_DIR") : given;
  if (!path.empty() && path[0] != '/') {
    const WorkingDirectory here;
    const bool is_from_start = given.empty() && g_loaded_in[0] != '\0';
    settings->directory.Append(is_from_start ? std::string_view(g_loaded_in) : here.path());
    if (!settings->directory.empty()) settings->directory.Append("/");
  }
  settings->directory.Append(path);
}

/// The given value, or where that is empty the variable's.
std::string_view TextOr(std::string_view given, const char* name) { return given.empty() ? Text(name) : given; }

/// CREMA_WAITS, or what is usual: where there is a sampler's thread, it looks at waits too. `auto`, as `crema run` sets
/// it, starts this thread for the waits alone, unless the program says that it wants no thread of ours.
double UsualWaitsHertz(const Options& others, double interval_seconds) {
  const std::string_view asked = Text("CREMA_WAITS");
  if (asked == "off") return 0;
  if (asked == "auto") interval_seconds = others.interval_seconds.value_or(1);
  return interval_seconds > 0 ? kDefaultWaitsHertz : 0;
}

}  // namespace

bool SwitchedOffByEnvironment() noexcept { return IsOne("CREMA_OFF"); }

double AskedStacks() noexcept { return Number("CREMA_STACKS").value_or(0); }
bool EnvironmentAsksForAllocations() noexcept { return IsOne("CREMA_ALLOCATIONS"); }
bool EnvironmentAsksForGpu() noexcept { return IsOne("CREMA_GPU"); }
const char* GpuLibrary() noexcept { return Text("CUDA_INJECTION64_PATH"); }

bool EnvironmentNamesDirectory() noexcept { return *Text("CREMA_DIR") != '\0'; }

const char* SenselessVariable() noexcept {
  const auto is_set = [](const char* name) { return *Text(name) != '\0' && strcmp(Text(name), "0") != 0; };
  for (const char* name :
       {"CREMA_OFF", "CREMA_TRACE", "CREMA_SUMMARY", "CREMA_NO_ARGUMENTS", "CREMA_ALLOCATIONS", "CREMA_GPU"}) {
    if (is_set(name) && !IsOne(name)) return name;
  }
  for (const char* name : {"CREMA_THREADS", "CREMA_TOTAL_EVENTS", "CREMA_MAX_LOG_BYTES"}) {
    if (is_set(name) && !Integer(name).has_value()) return name;
  }
  for (const char* name : {"CREMA_STACKS", "CREMA_INTERVAL"}) {
    if (is_set(name) && !Number(name).has_value()) return name;
  }
  const std::string_view waits = Text("CREMA_WAITS");
  const bool is_word = waits.empty() || waits == "off" || waits == "auto";
  return is_word || Number("CREMA_WAITS").has_value() ? nullptr : "CREMA_WAITS";
}

void ReadSettings(const OptionTexts& texts, const Options& others, Settings* settings) noexcept {
  SetDirectory(texts.directory, settings);
  settings->run_id.Append(CutOnCodePoint(TextOr(texts.run_id, "CREMA_RUN_ID"), kMaxPathBytes));
  settings->pass.Append(CutOnCodePoint(TextOr(texts.pass, "CREMA_PASS"), kMaxPathBytes));
  settings->threads = others.threads;
  if (!settings->threads.has_value()) {
    const auto threads = Integer("CREMA_THREADS");
    if (threads.has_value() && *threads <= INT_MAX) settings->threads = static_cast<int>(*threads);
  }
  settings->interval_seconds = others.interval_seconds.value_or(Number("CREMA_INTERVAL").value_or(1.0));
  const auto waits_hertz = Number("CREMA_WAITS");
  settings->waits_are_asked = waits_hertz.has_value();
  settings->waits_hertz = waits_hertz.has_value() ? std::min(*waits_hertz, kMostWaitsHertz)
                                                  : UsualWaitsHertz(others, settings->interval_seconds);
  settings->total_events = others.total_events.has_value() ? others.total_events : Integer("CREMA_TOTAL_EVENTS");
  settings->max_log_bytes = others.max_log_bytes.has_value() ? others.max_log_bytes : Integer("CREMA_MAX_LOG_BYTES");
  settings->trace = others.trace.value_or(IsOne("CREMA_TRACE"));
  settings->summary = IsOne("CREMA_SUMMARY");
  settings->record_arguments = others.record_arguments.value_or(!IsOne("CREMA_NO_ARGUMENTS"));
}

}  // namespace crema::internal
