#include "log/process_line.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "crema/internal/platform.h"
#include "crema/version.h"
#include "kernel/cgroup.h"
#include "kernel/proc_file.h"
#include "log/engine_identity.h"
#include "log/json_line.h"
#include "log/secret_filter.h"
#include "process/environment.h"
#include "storage/fixed_text.h"
#include "storage/own_memory.h"

namespace crema {
namespace internal {
namespace {

constexpr std::size_t kMostArguments = 1000;
constexpr std::size_t kMostArgumentBytes = std::size_t{1} << 17;

using HostName = FixedText<HOST_NAME_MAX>;

HostName Host() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return HostName("localhost");
  for (char* c = name; *c != '\0'; ++c) {
    if (*c == '/') *c = '_';  // it becomes a part of the log's name
  }
  return HostName(name);
}

/// Where a link leads to; empty where it cannot be read.
std::string_view ReadLink(const char* path, char* target, std::size_t bytes) {
  const ssize_t size = readlink(path, target, bytes);
  return {target, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::optional<std::int64_t> PidNamespace() {
  char target[64];
  const std::string_view link = ReadLink("/proc/self/ns/pid", target, sizeof target);  // pid:[4026531836]
  const std::size_t bracket = link.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  return LeadingInteger(link.substr(bracket + 1));
}

void AppendExecutable(JsonLine* line) {
  const OwnArray<char> target = MakeOwnArray<char>(PATH_MAX);
  const std::string_view path = target == nullptr ? "" : ReadLink("/proc/self/exe", target.get(), PATH_MAX);
  line->FieldText("executable", path);
}

FixedText<64> BootId() {
  char text[64];
  const long size = ReadWholeFile("/proc/sys/kernel/random/boot_id", text, sizeof text);
  std::string_view id(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!id.empty() && std::isspace(static_cast<unsigned char>(id.back())) != 0) id.remove_suffix(1);
  return FixedText<64>(id);
}

/// `[…]`, or null where there is no memory to read them into, which is counted.
void AppendCommandLine(Recorder* recorder, JsonLine* line) {
  const FileText text("/proc/self/cmdline", kMostArgumentBytes);
  if (!text.has_memory()) {
    recorder->dropped.fetch_add(1, std::memory_order_relaxed);
    line->Raw("null");
    return;
  }
  std::string_view rest = text.view();
  SecretFilter filter;
  line->Raw("[");
  for (std::size_t count = 0; !rest.empty() && count < kMostArguments; ++count) {
    const std::string_view argument = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(argument.size() + 1, rest.size()));
    const SecretFilter::Shown shown = filter.Next(argument);
    if (count != 0) line->Raw(",");
    line->Raw("\"");
    line->StringPart(CutOnCodePoint(shown.text, kMaxPathBytes), false);
    if (shown.hides_value) line->Raw("***");
    line->StringPart(CutOnCodePoint(shown.rest, kMaxPathBytes), false);
    line->Raw("\"");
  }
  line->Raw("]");
}

void AppendArguments(Recorder* recorder, JsonLine* line) {
  line->Key("arguments");
  if (recorder->settings.record_arguments) {
    AppendCommandLine(recorder, line);
  } else {
    line->Raw("null");
  }
}

void AppendEngine(const EngineIdentity& engine, JsonLine* line) {
  if (engine.name.empty()) return line->Raw(",\"engine\":null");
  line->Raw(",\"engine\":{\"name\":");
  line->String(engine.name.view());
  line->FieldText("job", engine.job.view());
  line->FieldText("step", engine.step.view());
  line->Field("rank", engine.rank);
  line->FieldText("slot", engine.slot.view());
  line->Field("cpus", engine.cpus);
  line->Field("memory_bytes", engine.memory_bytes);
  line->Raw("}");
}

void AppendPlace(const Settings& settings, JsonLine* line) {
  const WorkingDirectory directory;
  line->FieldText("working_directory", settings.record_arguments ? directory.path() : std::string_view());
  AppendEngine(FindEngine(directory.path()), line);
}

void AppendProcess(Recorder* recorder, const HostName& host, std::int64_t start_ns, int recorder_number) {
  const Settings& settings = recorder->settings;
  JsonLine* const line = &recorder->process_line;
  line->Raw("{\"type\":\"process\",\"schema\":\"crema.records/1\"");
  line->Field("schema_minor", kRecordSchemaMinor);
  line->FieldText("run_id", settings.run_id.view());
  line->FieldText("host", host.view());
  line->Field("pid", recorder->pid);
  line->Field("parent_pid", static_cast<std::int64_t>(getppid()));
  line->Field("pid_namespace", PidNamespace());
  line->Field("start_ns", start_ns);
  line->FieldText("boot_id", BootId().view());
  line->Field("recorder", static_cast<std::int64_t>(recorder_number));
  AppendExecutable(line);
  AppendArguments(recorder, line);
  line->FieldNumber("cores", AllowedCores());
  line->Field("threads", settings.threads.has_value() ? std::optional<std::int64_t>(*settings.threads) : std::nullopt);
  line->Field("memory_limit_bytes", MemoryLimitBytes());
  line->FieldText("clock", recorder->clock.counter_is_clock() ? "tsc" : "monotonic");
  line->FieldText("sdk", "crema-cpp " CREMA_VERSION_STRING);
  line->Raw(",\"attributes\":{");
  if (settings.total_events.has_value()) {
    line->Raw("\"total_events\":");
    line->Integer(*settings.total_events);
  }
  line->Raw("}");
  AppendPlace(settings, line);
  line->Raw("}\n");
}

}  // namespace

bool OpenLog(Recorder* recorder) noexcept {
  const HostName host = Host();
  const std::int64_t now = recorder->clock.UnixNanoseconds(recorder->clock.Now().monotonic_ns);
  const char* const directory = recorder->settings.directory.c_str();
  const std::int64_t start_ns =
      LogFile::StartAsLogged(directory, host.c_str(), recorder->pid, ProcessStartUnixNanoseconds(recorder->clock, now));
  if (!recorder->end_line.Reserve(kBytesForLastLine)) {
    errno = ENOMEM;
    return false;
  }
  const int number = recorder->log.Open(directory, host.c_str(), recorder->pid, start_ns, recorder->number);
  if (number < 0) return false;
  AppendProcess(recorder, host, start_ns, number);
  if (recorder->process_line.broken()) {
    recorder->log.Remove(&recorder->descriptors);
    errno = ENOMEM;
    return false;
  }
  recorder->log.KeepRoom(directory, recorder->settings.max_log_bytes, &recorder->descriptors);
  recorder->log.Begin(recorder->process_line.text());
  return true;
}

bool OpenLogBeside(Recorder* recorder, ChunkLog* more) noexcept {
  constexpr std::string_view kKey = ",\"recorder\":";
  const std::string_view first = recorder->process_line.text();
  const std::size_t number_at = first.find(kKey) + kKey.size();
  const std::int64_t first_number = LeadingInteger(first.substr(number_at)).value_or(0);
  const int number = more->log.OpenBeside(&recorder->log, static_cast<int>(first_number) + 1);
  if (number < 0) return false;
  JsonLine* const line = &more->process_line;
  line->Raw(first.substr(0, number_at));
  line->Integer(number);
  line->Field("first_recorder", first_number);
  line->Raw(first.substr(first.find(',', number_at)));
  if (!line->broken() && more->log.Begin(line->text())) return true;
  more->log.Remove(&recorder->descriptors);
  return false;
}

}  // namespace internal
}  // namespace crema
