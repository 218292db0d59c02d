#include "process_line.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <cctype>
#include <optional>

#include "cgroup.h"
#include "crema/version.h"
#include "json_line.h"
#include "proc_file.h"

namespace crema {
namespace internal {
namespace {

constexpr std::size_t kMostArguments = 1000;
constexpr std::size_t kMostArgumentBytes = std::size_t{1} << 17;

std::string Host() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  for (char* c = name; *c != '\0'; ++c) {
    if (*c == '/') *c = '_';  // it becomes a part of the log's name
  }
  return name;
}

std::string Link(const char* path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path, target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : std::string();
}

std::optional<std::int64_t> PidNamespace() {
  const std::string link = Link("/proc/self/ns/pid");  // pid:[4026531836]
  const std::size_t bracket = link.find('[');
  if (bracket == std::string::npos) return std::nullopt;
  return LeadingInteger(std::string_view(link).substr(bracket + 1));
}

std::string BootId() {
  char text[64];
  const long size = ReadWholeFile("/proc/sys/kernel/random/boot_id", text, sizeof text);
  std::string id(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!id.empty() && std::isspace(static_cast<unsigned char>(id.back())) != 0) id.pop_back();
  return id;
}

std::vector<std::string> CommandLine() {
  std::vector<std::string> arguments;
  std::string text(kMostArgumentBytes, '\0');
  const long size = ReadWholeFile("/proc/self/cmdline", text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  for (std::size_t begin = 0; begin < text.size() && arguments.size() < kMostArguments;) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

bool NamesSecret(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"token", "secret", "pass", "key", "cred"}) {
    if (lower.find(word) != std::string::npos) return true;
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

void AppendArguments(const Recorder& recorder, JsonLine* line) {
  line->Key("arguments");
  if (!recorder.settings.record_arguments) {
    line->Raw("null");
    return;
  }
  line->Raw("[");
  for (const std::string& argument : WithoutSecrets(CommandLine())) {
    if (line->text().back() != '[') line->Raw(",");
    line->String(CutOnCodePoint(argument, kMaxPathBytes));
  }
  line->Raw("]");
}

void AppendProcess(const Recorder& recorder, const std::string& host, std::int64_t start_ns, int recorder_number,
                   JsonLine* line) {
  const Settings& settings = recorder.settings;
  line->Raw("{\"type\":\"process\",\"schema\":\"crema.records/1\",\"schema_minor\":0");
  line->FieldText("run_id", settings.run_id);
  line->FieldText("host", host);
  line->Field("pid", recorder.pid);
  line->Field("parent_pid", static_cast<std::int64_t>(getppid()));
  line->Field("pid_namespace", PidNamespace());
  line->Field("start_ns", start_ns);
  line->FieldText("boot_id", BootId());
  line->Field("recorder", static_cast<std::int64_t>(recorder_number));
  line->FieldText("executable", Link("/proc/self/exe"));
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

std::vector<std::string> WithoutSecrets(const std::vector<std::string>& arguments) {
  std::vector<std::string> shown;
  bool value_is_secret = false;
  for (const std::string& argument : arguments) {
    const std::size_t value = SecretValue(argument);
    if (value_is_secret) {  // also one that begins with a dash: base64 may
      shown.emplace_back("***");
    } else if (value != std::string::npos) {
      shown.push_back(argument.substr(0, value) + "***");
    } else {
      shown.push_back(argument);
    }
    const bool is_option = !argument.empty() && argument[0] == '-';
    value_is_secret = is_option && argument.find('=') == std::string::npos && NamesSecret(argument);
  }
  return shown;
}

bool OpenLog(Recorder* recorder) {
  const std::string host = Host();
  const std::int64_t now = recorder->clock.UnixNanoseconds(recorder->clock.Now().monotonic_ns);
  const char* const directory = recorder->settings.directory.c_str();
  const std::int64_t start_ns =
      LogFile::StartAsLogged(directory, host.c_str(), recorder->pid, ProcessStartUnixNanoseconds(recorder->clock, now));
  const int number = recorder->log.Open(directory, host.c_str(), recorder->pid, start_ns);
  if (number < 0) return false;
  JsonLine line;
  AppendProcess(*recorder, host, start_ns, number, &line);
  recorder->log.Begin(line.text());
  return true;
}

}  // namespace internal
}  // namespace crema
