#include "collector/cli/doctor_command.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/run_session.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/descriptor.h"
#include "collector/idioms/sequences.h"
#include "collector/records/json_fields.h"
#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/tree_sampler.h"
#include "collector/terminal/terminal_box.h"
#include "crema/crema.h"
#include "crema/version.h"
#include "sdk/src/log/engine_identity.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

// `lib`, `lib64`, `lib/x86_64-linux-gnu`: what GNUInstallDirs of CMake calls the library directory.
std::vector<fs::path> LibraryDirectories(const fs::path& prefix) {
  std::vector<fs::path> found = {prefix / "lib", prefix / "lib64"};
  std::error_code error;
  for (fs::directory_iterator entry(prefix / "lib", error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find("-linux-") != std::string::npos) found.push_back(entry->path());
  }
  return found;
}

// Fewer descriptors than this, and the SDK opens and closes a file for some readings: docs/design.md,
// "Descriptors in a process that is not ours".
constexpr rlim_t kComfortableDescriptors = 512;

std::string ReadLine(const std::string& path) { return std::string(absl::StripAsciiWhitespace(ReadWholeFile(path))); }

bool HasWord(const std::string& text, const std::string& word) {
  return absl::StrContains(absl::StrCat(" ", text, " "), absl::StrCat(" ", word, " "));
}

/// A check whose subject is there, as `text` says, or not: then it is in the state `lacking`, as `without` says.
DoctorCheck CheckThere(bool is_there, const std::string& id, const std::string& label, const std::string& text,
                       CheckState lacking, const std::string& without, const std::string& remedy) {
  if (is_there) return {id, label, CheckState::kGood, true, text, ""};
  return {id, label, lacking, false, without, remedy};
}

DoctorCheck CheckClock(const std::string& root) {
  const std::string cpu = ReadWholeFile(root + "/proc/cpuinfo");
  const size_t flags_at = cpu.find("flags");
  const std::string flags =
      flags_at == std::string::npos ? "" : cpu.substr(flags_at, cpu.find('\n', flags_at) - flags_at);
  const bool invariant = HasWord(flags, "constant_tsc") && HasWord(flags, "nonstop_tsc");
  const std::string source = ReadLine(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  DoctorCheck check{"clock", "Clock", CheckState::kGood, {{"tsc_invariant", invariant}, {"clocksource", source}},
                    "",      ""};
  check.text = absl::StrCat("time-stamp counter ", invariant ? "invariant" : "not invariant",
                            "; the kernel's clock is ", source.empty() ? "unknown" : source);
  if (!invariant || (source != "tsc" && source != "kvm-clock")) {
    check.state = CheckState::kLimited;
    check.remedy = invariant ? "the kernel uses another clock than this counter: see `dmesg | grep -i tsc`"
                             : "sections read CLOCK_MONOTONIC instead, at a higher cost per section";
  }
  return check;
}

DoctorCheck CheckSchedstat(const std::string& root) {
  const std::string line = ReadLine(root + "/proc/self/schedstat");
  return CheckThere(
      !line.empty() && line != "0 0 0", "schedstat", "CPU wait", "the kernel reports the run delay (schedstat)",
      CheckState::kMissing,
      "the kernel does not report the run delay: crema cannot separate waiting for a CPU from other waiting",
      "a kernel with CONFIG_SCHED_INFO, as distributions have it");
}

bool PerfEventOpens() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long opened = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return Descriptor(static_cast<int>(opened)) >= 0;
}

DoctorCheck CheckPerf(const std::string& root) {
  const std::string text = ReadLine(root + "/proc/sys/kernel/perf_event_paranoid");
  int paranoid = 0;
  const bool known = absl::SimpleAtoi(text, &paranoid);
  const bool opens = root.empty() && PerfEventOpens();
  DoctorCheck check{"perf", "Hardware counters", CheckState::kGood, {}, "", ""};
  check.value = {{"paranoid", known ? Json(paranoid) : Json()}, {"opens", opens}};
  check.text = absl::StrCat("perf_event_paranoid is ", known ? text : "unknown", "; instructions ",
                            opens ? "can" : "cannot", " be counted");
  if (!opens) {
    check.state = CheckState::kLimited;
    check.remedy = known && paranoid > 2 ? "`sysctl kernel.perf_event_paranoid=2`, as root"
                                         : "the machine shows no hardware counters (a virtual machine?)";
  }
  return check;
}

DoctorCheck CheckCgroup(const std::string& root) {
  const CgroupLimits limits = ReadCgroupLimits(root);
  DoctorCheck check{"cgroup", "Control groups", CheckState::kGood, {}, "", ""};
  check.value = {{"version", limits.version}, {"quota_cores", nullptr}, {"memory_limit_bytes", nullptr}};
  if (limits.quota_cores.has_value()) check.value["quota_cores"] = *limits.quota_cores;
  if (limits.memory_limit_bytes.has_value()) check.value["memory_limit_bytes"] = *limits.memory_limit_bytes;
  check.text = absl::StrCat(limits.version, "; CPU quota ",
                            limits.quota_cores.has_value() ? HumanCount(*limits.quota_cores) + " cores" : "none",
                            "; memory limit ",
                            limits.memory_limit_bytes.has_value() ? HumanMemory(*limits.memory_limit_bytes) : "none");
  if (limits.version == "none") {
    check.state = CheckState::kLimited;
    check.remedy = "no control groups are mounted: limits of a batch job cannot be seen";
  }
  return check;
}

DoctorCheck CheckCores(const std::string& root) {
  const std::optional<AllocatedCores> cores = FindAllocatedCores([](const char* name) { return std::getenv(name); },
                                                                 ReadCgroupLimits(root), AffinityCores(), root);
  if (!cores.has_value()) return {"cores", "Cores granted", CheckState::kMissing, nullptr, "unknown", ""};
  const Json value = {{"cores", cores->cores}, {"source", cores->source}};
  const std::string text = absl::StrCat(HumanCount(cores->cores), ", from ", cores->detail);
  return {"cores", "Cores granted", CheckState::kGood, value, text, ""};
}

/// What the processes of an analysis started here would say of their engine, and which logs of engines lie here.
DoctorCheck CheckEngine() {
  DoctorCheck check{"engine", "Engine", CheckState::kGood, Json::object(), "", ""};
  std::error_code error;
  const internal::EngineIdentity engine = internal::FindEngine(std::filesystem::current_path(error).string());
  const std::string name(engine.name.view());
  const std::string job(engine.job.view());
  check.value = {{"name", TextOrNull(name)}, {"job", TextOrNull(job)}, {"logs", Json::array()}};
  check.text = name.empty() ? "none runs this process" : absl::StrCat(name, job.empty() ? "" : " job ", job);
  std::vector<std::string> places = {".", "vine-run-info"};
  if (const char* place = std::getenv("VINE_RUNTIME_INFO_DIR")) places.emplace_back(place);
  // Logs of batch systems are files of any name.
  constexpr size_t kMostFiles = 500;
  std::vector<std::string> files;
  for (auto entry = std::filesystem::directory_iterator(".", error);
       !error && entry != std::filesystem::directory_iterator() && files.size() < kMostFiles; entry.increment(error)) {
    std::error_code unreported;
    if (entry->is_regular_file(unreported)) files.push_back(entry->path().filename().string());
  }
  std::sort(files.begin(), files.end());
  places.insert(places.end(), files.begin(), files.end());
  std::string logs;
  for (const std::string& place : places) {
    const std::optional<EngineLog> log = FindEngineLog(place);
    if (!log.has_value()) continue;
    check.value["logs"].push_back(log->path);
    absl::StrAppend(&logs, logs.empty() ? "" : ", ", log->path, " (", std::string(log->engine->traits.name), ")");
  }
  absl::StrAppend(&check.text, logs.empty() ? "; no engine's log is here" : "; crema collect reads ", logs);
  return check;
}

DoctorCheck CheckChildren(const std::string& root) {
  // The list is empty for a process without children: that it exists is what counts.
  const std::string path = absl::StrCat(root, "/proc/self/task/", getpid(), "/children");
  return CheckThere(access(path.c_str(), R_OK) == 0, "children", "Process tree",
                    "the kernel lists a process's children", CheckState::kLimited,
                    "the kernel lists no children: `crema run` reads all processes instead, at a higher cost",
                    "a kernel with CONFIG_PROC_CHILDREN");
}

/// A machine without a GPU lacks nothing.
DoctorCheck CheckGpu() {
  const GpuDriver driver = FindGpuDriver();
  DoctorCheck check{"gpu", "GPU", CheckState::kGood, {{"driver", nullptr}, {"gpus", driver.gpus}}, driver.problem, ""};
  if (!driver.version.empty()) check.value["driver"] = driver.version;
  if (!driver.problem.empty()) return check;
  check.text = absl::StrCat(absl::StrJoin(driver.gpus, ", "), "; driver ", driver.version,
                            "; `crema run --gpu` counts what they do for each chunk");
  return check;
}

DoctorCheck CheckLimits() {
  DoctorCheck check{"limits", "Limits", CheckState::kGood, Json::object(), "", ""};
  const auto limit = [&check](const char* name, int resource) {
    rlimit value{};
    if (getrlimit(static_cast<__rlimit_resource_t>(resource), &value) != 0) return RLIM_INFINITY;
    check.value[name] = value.rlim_cur == RLIM_INFINITY ? Json(nullptr) : Json(value.rlim_cur);
    return value.rlim_cur;
  };
  const rlim_t files = limit("open_files", RLIMIT_NOFILE);
  const rlim_t file_bytes = limit("file_bytes", RLIMIT_FSIZE);
  limit("address_space_bytes", RLIMIT_AS);
  limit("processes", RLIMIT_NPROC);
  check.text = absl::StrCat(files == RLIM_INFINITY ? "unlimited" : absl::StrCat(files), " open files; file size ",
                            file_bytes == RLIM_INFINITY ? "unlimited" : absl::StrCat(file_bytes, " bytes"));
  if (file_bytes != RLIM_INFINITY) {
    check.state = CheckState::kLimited;
    check.remedy = "near the file-size limit, chunks are summed instead of written one by one: `ulimit -f unlimited`";
  } else if (files < kComfortableDescriptors) {
    check.state = CheckState::kLimited;
    check.remedy = "few descriptors: threads open and close files for each reading; `ulimit -n 1024`";
  }
  return check;
}

}  // namespace

fs::path RunningProgram() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

absl::StatusOr<InstalledSdk> FindInstalledSdk(const fs::path& program) {
  const fs::path prefix = program.parent_path().parent_path();
  std::error_code error;
  if (program.parent_path().filename() == "bin") {
    for (const fs::path& directory : LibraryDirectories(prefix)) {
      const fs::path cmake_dir = directory / "cmake" / "crema";
      if (!fs::exists(cmake_dir / "cremaConfig.cmake", error)) continue;
      return InstalledSdk{prefix, prefix / "include", cmake_dir, directory / "pkgconfig"};
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "no SDK was installed together with ", program.string(),
      ": install the wheel crema-hep, or this program with the SDK: cmake -S sdk -B build -DCREMA_PROGRAM=",
      program.string(), " && cmake --build build && cmake --install build"));
}

absl::StatusOr<std::string> FindLibraryToLoad(const fs::path& program, const std::string& name,
                                              const std::string& folder) {
  const fs::path prefix = program.parent_path().parent_path();
  std::vector<fs::path> directories = LibraryDirectories(prefix);
  directories.push_back(prefix.parent_path() / "sdk" / folder);
  std::error_code error;
  for (const fs::path& directory : directories) {
    if (fs::exists(directory / name, error)) return (directory / name).string();
  }
  return absl::NotFoundError(
      absl::StrCat(name, " was not installed together with ", program.string(),
                   ": install the wheel crema-hep, or this program with the SDK (CREMA_PROGRAM)"));
}

absl::StatusOr<std::string> PkgConfigField(const fs::path& module, const std::string& field) {
  std::ifstream file(module);
  if (!file) return absl::NotFoundError(absl::StrCat(module.string(), ": cannot be read; install crema again"));
  std::map<std::string, std::string> variables = {{"${pcfiledir}", module.parent_path().string()}};
  std::string line;
  while (std::getline(file, line)) {
    const size_t end = line.find_first_of("=:");
    if (end == std::string::npos) continue;
    const std::string name(absl::StripAsciiWhitespace(line.substr(0, end)));
    const std::string value = absl::StrReplaceAll(absl::StripAsciiWhitespace(line.substr(end + 1)), variables);
    if (line[end] == ':' && name == field) return value;
    if (line[end] == '=') variables[absl::StrCat("${", name, "}")] = value;
  }
  return absl::NotFoundError(absl::StrCat(module.string(), ": has no ", field, "; install crema again"));
}

std::vector<DoctorCheck> CheckMachine(const std::string& root) {
  return {
      CheckClock(root),
      CheckCores(root),
      CheckEngine(),
      CheckCgroup(root),
      CheckSchedstat(root),
      CheckThere(!ReadWholeFile(root + "/proc/self/io").empty(), "io", "I/O counters",
                 "bytes read and written per process", CheckState::kMissing,
                 "the kernel does not count the I/O of a process: read and written bytes will be null",
                 "a kernel with CONFIG_TASK_IO_ACCOUNTING"),
      CheckThere(!ReadWholeFile(root + "/proc/self/smaps_rollup").empty(), "pss", "Shared memory",
                 "proportional set size (PSS)", CheckState::kMissing,
                 "no smaps_rollup: memory shared by processes is counted in each", "Linux 4.14 or newer"),
      CheckChildren(root),
      CheckThere(!ReadLine(root + "/proc/pressure/cpu").empty(), "pressure", "Pressure (PSI)",
                 "stall times of CPU, memory and I/O", CheckState::kLimited, "the kernel does not report stall times",
                 "boot with `psi=1` (AlmaLinux 9 has it off)"),
      CheckPerf(root),
      CheckGpu(),
      CheckLimits(),
  };
}

// `crema doctor`: what this machine allows, what a guard costs here, what is missing.

namespace {

// What the SDK's guards cost on this machine: measured, here and now.

/// What a call takes, the best of three rounds: what other work on the machine adds is not the guard's.
struct GuardCost {
  const char* key;    ///< in JSON
  const char* label;  ///< in the text
  double ns;
};

constexpr int kRounds = 3;
constexpr int64_t kFast = 1'000'000;  // calls of what takes nanoseconds
constexpr int64_t kSlow = 20'000;     // calls of what makes system calls

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

template <class Call>
double BestNsPerCall(int64_t calls, Call call) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const int64_t start_ns = NowNs();
    for (int64_t i = 0; i < calls; ++i) call();
    best = std::min(best, static_cast<double>(NowNs() - start_ns) / static_cast<double>(calls));
  }
  return best;
}

void Section() { TrackSection section("doctor"); }
void SectionWithCpu() { TrackSection section("doctor_cpu", kCpuTime); }
void Memory() { TrackMemory memory("doctor"); }
void WholeChunk() { TrackMetrics chunk("doctor"); }

/// Records into a temporary directory, which it removes. Empty where recording cannot be had (CREMA_OFF=1, no temporary
/// directory). To be called in a process that records nothing else.
std::vector<GuardCost> MeasureGuardCosts() {
  // Else the first guard would begin to record there.
  unsetenv("CREMA_DIR");
  const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
  if (!directory.ok()) return {};
  const double clock_ns = BestNsPerCall(kFast, [] { NowNs(); });
  std::vector<GuardCost> costs = {{"off", "section, recording off", BestNsPerCall(kFast, Section)}};
  Options options;
  options.directory = (*directory)->path();
  options.interval_seconds = 0;
  if (!Enable(options)) return {};
  {
    TrackMetrics chunk("doctor");
    costs.push_back({"section", "section", BestNsPerCall(kFast, Section)});
    costs.push_back({"section_cpu", "section with CPU time", BestNsPerCall(kSlow, SectionWithCpu)});
    costs.push_back({"memory", "memory guard", BestNsPerCall(kSlow, Memory)});
  }
  costs.push_back({"chunk", "chunk, with its two writes", BestNsPerCall(kSlow, WholeChunk)});
  costs.push_back({"clock_read", "(one read of the clock)", clock_ns});
  Disable();
  return costs;
}

constexpr char kNoCost[] = "not measured: recording cannot be turned on (CREMA_OFF=1, or no temporary directory)";
constexpr int kLabelColumns = 18;

struct CheckMark {
  const char* word;   ///< also the `state` in JSON
  const char* plain;  ///< in ASCII
  Mark mark;
};

const CheckMark& MarkOf(CheckState state) {
  static constexpr CheckMark kMarks[] = {
      {"good", "OK  ", Mark::kGood}, {"limited", "WARN", Mark::kWatch}, {"missing", "BAD ", Mark::kBad}};
  return kMarks[static_cast<int>(state)];
}

std::string DoctorText(const std::vector<DoctorCheck>& checks, const std::vector<GuardCost>& costs,
                       const TerminalStyle& style) {
  std::string text = absl::StrCat("crema ", CREMA_VERSION_STRING, " on ", HostName(), "\n\n");
  for (const DoctorCheck& check : checks) {
    const CheckMark& mark = MarkOf(check.state);
    PaintedText sign = MarkSign(mark.mark);
    if (style.ascii) sign.text = mark.plain;
    text += fmt::format("{} {:<{}} {}\n", Painted(sign, style), check.label, kLabelColumns, check.text);
    if (!check.remedy.empty()) {
      text += fmt::format("{:{}}{} {}\n", "", kLabelColumns + (style.ascii ? 6 : 3), style.ascii ? "->" : "→",
                          check.remedy);
    }
  }
  text += "\nWhat a guard costs here\n";
  if (costs.empty()) return absl::StrCat(text, "  ", kNoCost, "\n");
  for (const GuardCost& cost : costs) text += fmt::format("  {:<28} {:9.1f} ns\n", cost.label, cost.ns);
  return text;
}

Json DoctorJson(const std::vector<DoctorCheck>& checks, const std::vector<GuardCost>& costs) {
  Json document = {{"schema", "crema.doctor/1"}, {"version", CREMA_VERSION_STRING}, {"host", HostName()}};
  document["checks"] = Mapped<Json>(checks, [](const DoctorCheck& check) {
    return Json{{"id", check.id},
                {"label", check.label},
                {"state", MarkOf(check.state).word},
                {"value", check.value},
                {"text", check.text},
                {"remedy", check.remedy.empty() ? Json(nullptr) : Json(check.remedy)}};
  });
  document["guard_cost_ns"] = nullptr;
  for (const GuardCost& cost : costs) document["guard_cost_ns"][cost.key] = cost.ns;
  return document;
}

int Examine(const OutputOptions& options) {
  std::vector<DoctorCheck> checks = CheckMachine();
  const std::vector<GuardCost> costs = MeasureGuardCosts();
  if (options.json) return PrintOut(JsonText(DoctorJson(checks, costs), 1) + "\n");
  if (options.quiet) EraseWhere(&checks, [](const DoctorCheck& one) { return one.state == CheckState::kGood; });
  return PrintOut(DoctorText(checks, costs, StyleFor(STDOUT_FILENO, options)) +
                  NextStep(options, "crema run -- COMMAND", "where the core-seconds of a command went"));
}

}  // namespace

void AddDoctorCommand(CLI::App* program, int* status) {
  CLI::App* doctor =
      program->add_subcommand("doctor", "Say what crema can measure on this machine, and what a guard costs on it");
  doctor->footer("Example:\n  crema doctor\n  crema doctor --json");
  auto options = std::make_shared<OutputOptions>();
  doctor->add_flag("--json", options->json, "Print JSON");
  AddOutputOptions(doctor, options.get());
  doctor->callback([options, status] { *status = Examine(*options); });
}

}  // namespace crema
