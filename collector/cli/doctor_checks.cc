#include "collector/cli/doctor_checks.h"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/appearance/human_numbers.h"
#include "collector/engines/engines.h"
#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/sources/process_tree/gpu_sampler.h"
#include "collector/sources/process_tree/proc_file.h"
#include "sdk/src/log/engine_identity.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

// Fewer descriptors than this, and the SDK opens and closes a file for some readings: docs/design.md,
// "Descriptors in a process that is not ours".
constexpr rlim_t kComfortableDescriptors = 512;

std::string ReadLine(const std::string& path) { return std::string(absl::StripAsciiWhitespace(ReadWholeFile(path))); }

bool HasWord(const std::string& text, const std::string& word) {
  return absl::StrContains(absl::StrCat(" ", text, " "), absl::StrCat(" ", word, " "));
}

/// A check whose subject is there, or is missing.
DoctorCheck Has(const std::string& id, const std::string& label, const std::string& text) {
  return {id, label, CheckState::kGood, true, text, ""};
}
DoctorCheck Lacks(const std::string& id, const std::string& label, CheckState state, const std::string& text,
                  const std::string& remedy) {
  return {id, label, state, false, text, remedy};
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
  if (!line.empty() && line != "0 0 0")
    return Has("schedstat", "CPU wait", "the kernel reports the run delay (schedstat)");
  return Lacks("schedstat", "CPU wait", CheckState::kMissing,
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
  const long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return false;
  close(static_cast<int>(descriptor));
  return true;
}

DoctorCheck CheckPerf(const std::string& root) {
  const std::string text = ReadLine(root + "/proc/sys/kernel/perf_event_paranoid");
  int paranoid = 0;
  const bool known = absl::SimpleAtoi(text, &paranoid);
  const bool opens = root.empty() && PerfEventOpens();
  DoctorCheck check{"perf", "Hardware counters", CheckState::kGood, {{"paranoid", nullptr}, {"opens", opens}}, "", ""};
  if (known) check.value["paranoid"] = paranoid;
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
  DoctorCheck check{"cores", "Cores granted", CheckState::kGood, nullptr, "", ""};
  if (!cores.has_value()) {
    check.state = CheckState::kMissing;
    check.text = "unknown";
    return check;
  }
  check.value = {{"cores", cores->cores}, {"source", cores->source}};
  check.text = absl::StrCat(HumanCount(cores->cores), ", from ", cores->detail);
  return check;
}

/// What the processes of an analysis started here would say of their engine, and which logs of engines lie here.
DoctorCheck CheckEngine() {
  DoctorCheck check{"engine", "Engine", CheckState::kGood, Json::object(), "", ""};
  std::error_code error;
  const internal::EngineIdentity engine = internal::FindEngine(std::filesystem::current_path(error).string());
  const std::string name(engine.name.view());
  const std::string job(engine.job.view());
  check.value = {
      {"name", name.empty() ? Json() : Json(name)}, {"job", job.empty() ? Json() : Json(job)}, {"logs", Json::array()}};
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
  absl::StrAppend(&check.text, logs.empty() ? "; no engine's log lies here" : "; crema collect reads ", logs);
  return check;
}

DoctorCheck CheckPressure(const std::string& root) {
  if (!ReadLine(root + "/proc/pressure/cpu").empty()) {
    return Has("pressure", "Pressure (PSI)", "stall times of CPU, memory and I/O");
  }
  return Lacks("pressure", "Pressure (PSI)", CheckState::kLimited, "the kernel does not report stall times",
               "boot with `psi=1` (AlmaLinux 9 has it off)");
}

DoctorCheck CheckReadable(const std::string& path, const std::string& id, const std::string& label,
                          const std::string& text, const std::string& without, const std::string& remedy) {
  if (!ReadWholeFile(path).empty()) return Has(id, label, text);
  return Lacks(id, label, CheckState::kMissing, without, remedy);
}

DoctorCheck CheckChildren(const std::string& root) {
  // The list is empty for a process without children: that it exists is what counts.
  const std::string path = absl::StrCat(root, "/proc/self/task/", getpid(), "/children");
  if (access(path.c_str(), R_OK) == 0) return Has("children", "Process tree", "the kernel lists a process's children");
  return Lacks("children", "Process tree", CheckState::kLimited,
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
    check.remedy =
        "a log stops before it reaches the file-size limit; later records are lost, and counted: `ulimit -f unlimited`";
  } else if (files < kComfortableDescriptors) {
    check.state = CheckState::kLimited;
    check.remedy = "few descriptors: threads open and close files for each reading; `ulimit -n 1024`";
  }
  return check;
}

}  // namespace

std::vector<DoctorCheck> CheckMachine(const std::string& root) {
  return {
      CheckClock(root),
      CheckCores(root),
      CheckEngine(),
      CheckCgroup(root),
      CheckSchedstat(root),
      CheckReadable(root + "/proc/self/io", "io", "I/O counters", "bytes read and written per process",
                    "the kernel does not count the I/O of a process: read and written bytes will be null",
                    "a kernel with CONFIG_TASK_IO_ACCOUNTING"),
      CheckReadable(root + "/proc/self/smaps_rollup", "pss", "Shared memory", "proportional set size (PSS)",
                    "no smaps_rollup: memory shared by processes is counted in each", "Linux 4.14 or newer"),
      CheckChildren(root),
      CheckPressure(root),
      CheckPerf(root),
      CheckGpu(),
      CheckLimits(),
  };
}

}  // namespace crema
