#include "process_line.h"

#include <errno.h>
#include <limits.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <new>
#include <optional>

#include "cgroup.h"
#include "crema/version.h"
#include "fixed_text.h"
#include "json_line.h"
#include "proc_file.h"

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

FixedText<PATH_MAX> Link(const char* path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path, target, sizeof target);
  return FixedText<PATH_MAX>(std::string_view(target, size > 0 ? static_cast<std::size_t>(size) : 0));
}

std::optional<std::int64_t> PidNamespace() {
  const auto link = Link("/proc/self/ns/pid");  // pid:[4026531836]
  const std::size_t bracket = link.view().find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  return LeadingInteger(link.view().substr(bracket + 1));
}

FixedText<64> BootId() {
  char text[64];
  const long size = ReadWholeFile("/proc/sys/kernel/random/boot_id", text, sizeof text);
  std::string_view id(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!id.empty() && std::isspace(static_cast<unsigned char>(id.back())) != 0) id.remove_suffix(1);
  return FixedText<64>(id);
}

bool NamesSecret(std::string_view name) {
  for (const std::string_view word : {"token", "secret", "pass", "key", "cred"}) {
    for (std::size_t i = 0; i + word.size() <= name.size(); ++i) {
      if (strncasecmp(name.data() + i, word.data(), word.size()) == 0) return true;
    }
  }
  return false;
}

/// Where the value after the first name of a secret begins: `--token=`, `TOKEN=`, `--url=https://host/file?token=`.
std::size_t SecretValue(std::string_view argument) {
  for (std::size_t equals = argument.find('='); equals != std::string_view::npos;
       equals = argument.find('=', equals + 1)) {
    if (NamesSecret(argument.substr(0, equals))) return equals + 1;
  }
  return std::string_view::npos;
}

/// `[…]`, or null where there is no memory to read them into.
void AppendCommandLine(JsonLine* line) {
  const std::unique_ptr<char[]> text(new (std::nothrow) char[kMostArgumentBytes]);
  if (text == nullptr) {
    line->Raw("null");
    return;
  }
  const long size = ReadWholeFile("/proc/self/cmdline", text.get(), kMostArgumentBytes);
  std::string_view rest(text.get(), size > 0 ? static_cast<std::size_t>(size) : 0);
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
    line->Raw("\"");
  }
  line->Raw("]");
}

void AppendArguments(const Recorder& recorder, JsonLine* line) {
  line->Key("arguments");
  if (recorder.settings.record_arguments) {
    AppendCommandLine(line);
  } else {
    line->Raw("null");
  }
}

void AppendProcess(const Recorder& recorder, const HostName& host, std::int64_t start_ns, int recorder_number,
                   JsonLine* line) {
  const Settings& settings = recorder.settings;
  line->Raw("{\"type\":\"process\",\"schema\":\"crema.records/1\",\"schema_minor\":0");
  line->FieldText("run_id", settings.run_id.view());
  line->FieldText("host", host.view());
  line->Field("pid", recorder.pid);
  line->Field("parent_pid", static_cast<std::int64_t>(getppid()));
  line->Field("pid_namespace", PidNamespace());
  line->Field("start_ns", start_ns);
  line->FieldText("boot_id", BootId().view());
  line->Field("recorder", static_cast<std::int64_t>(recorder_number));
  line->FieldText("executable", Link("/proc/self/exe").view());
  AppendArguments(recorder, line);
  line->FieldNumber("cores", AllowedCores());
  line->Field("threads", settings.threads.has_value() ? std::optional<std::int64_t>(*settings.threads) : std::nullopt);
  line->Field("memory_limit_bytes", MemoryLimitBytes());
  line->FieldText("clock", recorder.clock.counter_is_clock() ? "tsc" : "monotonic");
  line->FieldText("sdk", "crema-cpp " CREMA_VERSION_STRING);
  line->Raw(",\"attributes\":{");
  if (settings.total_events.has_value()) {
    line->Raw("\"total_events\":");
    line->Integer(*settings.total_events);
  }
  line->Raw("}}\n");
}

}  // namespace

SecretFilter::Shown SecretFilter::Next(std::string_view argument) noexcept {
  const std::size_t value = SecretValue(argument);
  Shown shown{argument, false};
  if (value_is_secret_) {  // also one that begins with a dash: base64 may
    shown = {"", true};
  } else if (value != std::string_view::npos) {
    shown = {argument.substr(0, value), true};
  }
  const bool is_option = !argument.empty() && argument[0] == '-';
  value_is_secret_ = is_option && argument.find('=') == std::string_view::npos && NamesSecret(argument);
  return shown;
}

bool OpenLog(Recorder* recorder) noexcept {
  const HostName host = Host();
  const std::int64_t now = recorder->clock.UnixNanoseconds(recorder->clock.Now().monotonic_ns);
  const char* const directory = recorder->settings.directory.c_str();
  const std::int64_t start_ns =
      LogFile::StartAsLogged(directory, host.c_str(), recorder->pid, ProcessStartUnixNanoseconds(recorder->clock, now));
  const int number = recorder->log.Open(directory, host.c_str(), recorder->pid, start_ns);
  if (number < 0) return false;
  AppendProcess(*recorder, host, start_ns, number, &recorder->process_line);
  if (recorder->process_line.broken() || !recorder->end_line.Reserve(kBytesForLastLine)) {
    recorder->log.Remove();
    errno = ENOMEM;
    return false;
  }
  recorder->log.Begin(recorder->process_line.text());
  return true;
}

}  // namespace internal
}  // namespace crema
