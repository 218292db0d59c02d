#include "collector/sources/process_tree/tree_sampler.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/units.h"
#include "collector/sources/process_tree/allocated_cores.h"

namespace crema {
namespace {

constexpr std::chrono::seconds kInterval(1);
/// Reading the shares of processes takes 1.4 ms a GPU.
constexpr int kReadingsBetweenShares = 10;
constexpr std::chrono::milliseconds kLongestWaitAtEnd(100);
/// For a call that waits for the table to be large enough.
constexpr unsigned kMostProcesses = 4096;
constexpr int kNotFound = 6;          // NVML_ERROR_NOT_FOUND: the table has no row
constexpr int kInsufficientSize = 7;  // NVML_ERROR_INSUFFICIENT_SIZE

// NVML's objects, as nvml.h has them (NVML API Reference Guide).
using Device = void*;
struct Utilization {
  unsigned gpu = 0, memory = 0;  // percent
};
struct Memory {
  unsigned long long total = 0, free = 0, used = 0;
};
struct RunningProcess {  // of nvmlDeviceGetComputeRunningProcesses_v2 and later
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};
struct ProcessShare {
  unsigned pid = 0;
  unsigned long long time_us = 0;
  unsigned sm = 0, memory = 0, encoder = 0, decoder = 0;  // percent
};
constexpr unsigned long long kUnknownBytes = ~0ULL;  // NVML_VALUE_NOT_AVAILABLE

/// A function of a library, for a pointer of its type; null where the library lacks it.
struct Symbol {
  void* library;
  const char* name;

  template <class Function>
  operator Function*() const {  // NOLINT(google-explicit-constructor): it says where a function comes from
    return reinterpret_cast<Function*>(dlsym(library, name));
  }
};

struct Nvml {
  void* library;
  int (*init)() = Symbol{library, "nvmlInit_v2"};
  int (*shutdown)() = Symbol{library, "nvmlShutdown"};
  int (*driver_version)(char*, unsigned) = Symbol{library, "nvmlSystemGetDriverVersion"};
  int (*device_count)(unsigned*) = Symbol{library, "nvmlDeviceGetCount_v2"};
  int (*device)(unsigned, Device*) = Symbol{library, "nvmlDeviceGetHandleByIndex_v2"};
  int (*name)(Device, char*, unsigned) = Symbol{library, "nvmlDeviceGetName"};
  int (*utilization)(Device, Utilization*) = Symbol{library, "nvmlDeviceGetUtilizationRates"};
  int (*memory)(Device, Memory*) = Symbol{library, "nvmlDeviceGetMemoryInfo"};
  int (*power)(Device, unsigned*) = Symbol{library, "nvmlDeviceGetPowerUsage"};
  int (*energy)(Device, unsigned long long*) = Symbol{library, "nvmlDeviceGetTotalEnergyConsumption"};
  int (*processes)(Device, unsigned*, RunningProcess*) = Symbol{library, "nvmlDeviceGetComputeRunningProcesses_v3"};
  int (*graphics)(Device, unsigned*, RunningProcess*) = Symbol{library, "nvmlDeviceGetGraphicsRunningProcesses_v3"};
  int (*shares)(Device, ProcessShare*, unsigned*, unsigned long long) = Symbol{library,
                                                                               "nvmlDeviceGetProcessUtilization"};

  /// False if the library lacks the function, or the function fails.
  template <class Function, class... Arguments>
  static bool Call(Function* function, Arguments... arguments) {
    return function != nullptr && function(arguments...) == 0;
  }
};

/// Loads the library and begins. nullopt, with the reason, if there is none.
std::optional<Nvml> Begin(std::string* problem) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *problem = "NVIDIA's driver is not installed (libnvidia-ml.so.1 was not found)";
    return std::nullopt;
  }
  Nvml nvml{library};
  if (nvml.processes == nullptr) nvml.processes = Symbol{library, "nvmlDeviceGetComputeRunningProcesses_v2"};
  if (nvml.init == nullptr || nvml.device_count == nullptr || nvml.device == nullptr) {
    *problem = "libnvidia-ml.so.1 lacks functions of NVML";
    return std::nullopt;
  }
  if (const int error = nvml.init(); error != 0) {
    *problem = absl::StrCat("NVML does not start (error ", error, "); does `nvidia-smi` work?");
    return std::nullopt;
  }
  return nvml;
}

struct Gpu {
  Device device = nullptr;
  TreeGpu read;
  std::vector<RunningProcess> processes;
  bool knows_processes = false;
  bool has_unlisted_processes = false;  ///< it is busy, and NVML lists no process, as in a container
  std::vector<ProcessShare> shares;
  bool knows_shares = false;
  std::optional<unsigned long long> first_energy_mj;
  unsigned long long shares_since_us = 0;
};

std::vector<Gpu> FindGpus(const Nvml& nvml) {
  std::vector<Gpu> gpus;
  unsigned count = 0;
  if (nvml.device_count(&count) != 0) return gpus;
  for (unsigned i = 0; i < count; ++i) {
    Gpu gpu;
    if (nvml.device(i, &gpu.device) != 0) continue;  // one that this process may not see
    char name[96] = "";
    if (Nvml::Call(nvml.name, gpu.device, name, unsigned{sizeof name})) gpu.read.name = name;
    gpu.read.index = i;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

/// A table whose size is not known before. `call(count, rows)`: as NVML's.
template <class Row, class Function>
bool ReadTable(std::vector<Row>* rows, Function call) {
  unsigned count = std::max<unsigned>(64, static_cast<unsigned>(rows->capacity()));
  for (int tries = 0; tries < 3; ++tries) {
    rows->resize(count);
    const int error = call(&count, rows->data());
    if (error == kNotFound) count = 0;
    if (error == 0 || error == kNotFound) {
      rows->resize(std::min<size_t>(count, rows->size()));
      return true;
    }
    if (error != kInsufficientSize || count > kMostProcesses) break;
    count = std::max<unsigned>(count + 16, static_cast<unsigned>(rows->size()));
  }
  rows->clear();
  return false;
}

void Read(const Nvml& nvml, bool with_shares, Gpu* gpu) {
  TreeGpu& read = gpu->read;
  Utilization utilization;
  read.utilization_percent.reset();
  if (Nvml::Call(nvml.utilization, gpu->device, &utilization)) read.utilization_percent = utilization.gpu;
  Memory memory;
  if (Nvml::Call(nvml.memory, gpu->device, &memory)) {
    read.memory_used_bytes = static_cast<int64_t>(memory.used);
    read.memory_total_bytes = static_cast<int64_t>(memory.total);
  }
  unsigned power_mw = 0;
  read.power_mw.reset();
  if (Nvml::Call(nvml.power, gpu->device, &power_mw)) read.power_mw = power_mw;
  const auto read_processes = [gpu](int (*function)(Device, unsigned*, RunningProcess*),
                                    std::vector<RunningProcess>* rows) {
    return function != nullptr &&
           ReadTable(rows, [&](unsigned* count, RunningProcess* first) { return function(gpu->device, count, first); });
  };
  gpu->knows_processes = read_processes(nvml.processes, &gpu->processes);
  gpu->has_unlisted_processes = gpu->processes.empty() && read.utilization_percent.value_or(0) > 0;
  std::vector<RunningProcess> desktop;
  if (gpu->has_unlisted_processes && read_processes(nvml.graphics, &desktop)) {
    gpu->has_unlisted_processes = desktop.empty();
  }
  gpu->knows_shares = false;
  if (!with_shares || nvml.shares == nullptr) return;
  gpu->knows_shares = ReadTable(&gpu->shares, [&nvml, gpu](unsigned* count, ProcessShare* rows) {
    return nvml.shares(gpu->device, rows, count, gpu->shares_since_us);
  });
  for (const ProcessShare& share : gpu->shares) gpu->shares_since_us = std::max(gpu->shares_since_us, share.time_us);
}

/// False in a container whose process ids differ from those of the driver: nobody can say there whose process it is.
bool IsVisible(unsigned pid) { return kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }

/// The server of CUDA's Multi-Process Service works for all its clients: what it uses is theirs.
bool IsMpsServer(unsigned pid) {
  std::string name;
  std::getline(std::ifstream(absl::StrCat("/proc/", pid, "/comm")), name);
  return name == "nvidia-cuda-mps";  // the kernel keeps 15 bytes
}

TreeGpu WithTree(const Gpu& gpu, const std::function<bool(int64_t)>& is_of_tree) {
  TreeGpu row = gpu.read;
  const bool are_visible =
      !gpu.has_unlisted_processes &&
      absl::c_all_of(gpu.processes, [](const RunningProcess& process) { return IsVisible(process.pid); });
  if (!are_visible) return row;
  int64_t servers = 0;
  if (gpu.knows_processes) {
    row.tree_memory_bytes = 0;
    row.other_processes = 0;
    for (const RunningProcess& process : gpu.processes) {
      if (!is_of_tree(process.pid)) {
        const bool is_server = IsMpsServer(process.pid);
        (is_server ? servers : *row.other_processes) += 1;
      } else if (process.used_bytes == kUnknownBytes) {
        row.tree_memory_bytes.reset();
      } else if (row.tree_memory_bytes.has_value()) {
        *row.tree_memory_bytes += static_cast<int64_t>(process.used_bytes);
      }
    }
  }
  const auto is_visible = [&is_of_tree](const ProcessShare& share) {
    return share.pid == 0 || is_of_tree(share.pid) || IsVisible(share.pid);
  };
  if (servers == 0 && gpu.knows_shares && absl::c_all_of(gpu.shares, is_visible)) {
    row.tree_percent = row.other_percent = 0;
    for (const ProcessShare& share : gpu.shares) {
      if (share.pid != 0) *(is_of_tree(share.pid) ? row.tree_percent : row.other_percent) += share.sm;
    }
  }
  return row;
}

constexpr int64_t kTimePerCost = 1000;       // a share of 0.1 % of a core
constexpr int64_t kAllowanceNs = 2'000'000;  // so that jobs of a few seconds have a reading too
constexpr int64_t kSamplesBetweenReadings = 10;
constexpr int64_t kGrowthDivisor = 10;

constexpr int64_t kMicrosecondNs = 1000;

int64_t Nanoseconds(const timeval& time) { return time.tv_sec * kSecondNs + time.tv_usec * kMicrosecondNs; }

}  // namespace

struct GpuSampler::Shared {
  std::mutex mutex;
  std::condition_variable wakes;
  bool ends = false;
  bool has_ended = false;
  std::vector<Gpu> gpus;  ///< as read last

  void Run() {
    std::string problem;
    const std::optional<Nvml> nvml = Begin(&problem);
    std::vector<Gpu> read = nvml.has_value() ? FindGpus(*nvml) : std::vector<Gpu>();
    const auto energy = [&](const Gpu& gpu) {
      unsigned long long value = 0;
      return Nvml::Call((*nvml).energy, gpu.device, &value) ? std::optional<unsigned long long>(value) : std::nullopt;
    };
    for (Gpu& gpu : read) gpu.first_energy_mj = energy(gpu);
    std::unique_lock<std::mutex> lock(mutex);
    for (int readings = 0; !ends && !read.empty(); ++readings) {
      lock.unlock();
      for (Gpu& gpu : read) Read(*nvml, readings % kReadingsBetweenShares == kReadingsBetweenShares - 1, &gpu);
      lock.lock();
      gpus = read;
      wakes.wait_for(lock, kInterval, [this] { return ends; });
    }
    lock.unlock();
    for (Gpu& gpu : read) {
      if (const auto last = energy(gpu); last.has_value() && gpu.first_energy_mj.has_value()) {
        gpu.read.energy_mj = static_cast<int64_t>(*last - *gpu.first_energy_mj);
      }
    }
    lock.lock();
    gpus = std::move(read);
    has_ended = true;
    wakes.notify_all();
    // Without nvmlShutdown: it takes milliseconds, and crema ends.
  }
};

void GpuSampler::StartOnce() {
  if (shared_ != nullptr) return;
  shared_ = std::make_shared<Shared>();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the thread that relays them
  try {
    std::thread([shared = shared_] { shared->Run(); }).detach();
  } catch (const std::system_error&) {
    shared_->has_ended = true;  // no thread is to be had: no GPU is seen
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::vector<TreeGpu> GpuSampler::Latest(const std::function<bool(int64_t pid)>& is_of_tree) const {
  if (shared_ == nullptr) return {};
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  return Mapped<TreeGpu>(shared_->gpus, [&](const Gpu& gpu) { return WithTree(gpu, is_of_tree); });
}

std::vector<TreeGpu> GpuSampler::End() {
  if (shared_ == nullptr) return {};
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->ends = true;
  shared_->wakes.notify_all();
  shared_->wakes.wait_for(lock, kLongestWaitAtEnd, [this] { return shared_->has_ended; });
  return Mapped<TreeGpu>(shared_->gpus, &Gpu::read);
}

GpuDriver FindGpuDriver() {
  GpuDriver driver;
  const std::optional<Nvml> nvml = Begin(&driver.problem);
  if (!nvml.has_value()) return driver;
  char version[96] = "";
  if (Nvml::Call(nvml->driver_version, version, unsigned{sizeof version})) driver.version = version;
  for (const Gpu& gpu : FindGpus(*nvml)) driver.gpus.push_back(gpu.read.name);
  if (driver.gpus.empty()) driver.problem = "NVIDIA's driver shows no GPU to this process";
  Nvml::Call(nvml->shutdown);
  return driver;
}

int64_t TickNs() { return kSecondNs / sysconf(_SC_CLK_TCK); }

int64_t ReadClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

AnchoredClock::AnchoredClock()
    : anchor_ns_(ReadClockNs(CLOCK_REALTIME) - ReadClockNs(CLOCK_MONOTONIC)),
      boot_ns_(ReadClockNs(CLOCK_REALTIME) - ReadClockNs(CLOCK_BOOTTIME)) {}

bool PssSchedule::Due(int64_t now_ns, int64_t rss_bytes) {
  ++samples_since_;
  const bool wanted =
      samples_since_ >= kSamplesBetweenReadings || rss_bytes > largest_rss_bytes_ + largest_rss_bytes_ / kGrowthDivisor;
  return wanted && spent_ns_ + last_cost_ns_ <= kAllowanceNs + (now_ns - start_ns_) / kTimePerCost;
}

void PssSchedule::Spent(int64_t cost_ns, int64_t rss_bytes) {
  samples_since_ = 0;
  largest_rss_bytes_ = std::max(largest_rss_bytes_, rss_bytes);
  last_cost_ns_ = cost_ns;
  spent_ns_ += cost_ns;
}

TreeSampler::TreeSampler(const AnchoredClock& clock, TreeLogWriter* log, TreeScanner scanner, TreeLedger ledger,
                         const std::string& process)
    : clock_(clock),
      log_(log),
      scanner_(std::move(scanner)),
      ledger_(std::move(ledger)),
      pss_schedule_(clock.UnixNs()),
      net_path_("/proc/" + process + "/net/dev"),
      oom_kills_file_(FindOomKillsFile({}, process)) {
  net_.Add(net_file_.Read(net_path_.c_str(), true, &buffer_));
  oom_kills_before_ = ReadOomKills(oom_kills_file_);
}

bool TreeSampler::SeesProcesses() {
  char own[16] = {};
  const ssize_t length = readlink("/proc/self", own, sizeof own - 1);
  return length > 0 && std::to_string(getpid()) == own;
}

TreeSampler TreeSampler::OfOwnCommand(const AnchoredClock& clock, TreeLogWriter* log) {
  // In another namespace, /proc has strangers under the pids of ours: it is looked for where there is no file.
  const bool sees_processes = SeesProcesses();
  TreeScanner scanner(getpid(), sees_processes ? "" : "/dev/null");
  scanner.IgnorePresentChildren();
  TreeSampler sampler(clock, log, std::move(scanner), TreeLedger(getpid(), TickNs()), "self");
  sampler.sees_processes_ = sees_processes;
  return sampler;
}

TreeSampler TreeSampler::OfProcess(int pid, const AnchoredClock& clock, TreeLogWriter* log) {
  TreeScanner scanner = TreeScanner::IncludingRoot(pid);
  scanner.Ignore(getpid());
  return TreeSampler(clock, log, std::move(scanner), TreeLedger::OfStrangers(TickNs()), std::to_string(pid));
}

bool TreeSampler::AnyAlive() const {
  return absl::c_any_of(scanner_.readings(), [](const ProcessReading& process) { return !process.ended(); });
}

void TreeSampler::Sample() {
  gpus_.StartOnce();  // the command runs by now: it waits for nothing
  net_bytes_ = net_.Add(net_file_.Read(net_path_.c_str(), true, &buffer_));
  if (!sees_processes_) return;
  scanner_.Scan();
  if (pss_schedule_.Due(clock_.UnixNs(), scanner_.rss_bytes())) {
    const int64_t before_ns = ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
    scanner_.ReadPss();
    pss_schedule_.Spent(ReadClockNs(CLOCK_THREAD_CPUTIME_ID) - before_ns, scanner_.rss_bytes());
  }
  ledger_.AddSnapshot(scanner_.readings());
  TreeSampleFact sample = ledger_.Sample(clock_.boot_ns());
  sample.time_ns = clock_.UnixNs();
  sample.net = net_bytes_;
  sample.gpus = gpus_.Latest([this](int64_t pid) {
    return absl::c_any_of(scanner_.readings(),
                          [pid](const ProcessReading& reading) { return reading.stat.pid == pid; });
  });
  log_->Write(sample);
  ++samples_;
}

TreeSampler::Reaped TreeSampler::ReapChildren(pid_t command) {
  Reaped result;
  for (;;) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      result.none_left = errno == ECHILD;
      return result;
    }
    if (ended.si_pid == 0) return result;
    // wait4 gives the account of a process and all that it waited for in one sum: /proc has its parts, but only as
    // long as nobody waited for it.
    const std::optional<ProcessReading> last = scanner_.ReadEnded(ended.si_pid);
    int status = 0;
    rusage usage{};
    if (wait4(ended.si_pid, &status, WNOHANG, &usage) != ended.si_pid) continue;
    if (scanner_.StopIgnoring(ended.si_pid, last) && ended.si_pid != command) continue;
    TreeReapFact reaped;
    reaped.time_ns = clock_.UnixNs();
    reaped.pid = ended.si_pid;
    reaped.user_ns = Nanoseconds(usage.ru_utime);
    reaped.system_ns = Nanoseconds(usage.ru_stime);
    reaped.max_rss_bytes = usage.ru_maxrss * kKibibyte;
    reaped.major_faults = usage.ru_majflt;
    reaped.context_switches_involuntary = usage.ru_nivcsw;
    reaped.exit_status = ShellStatus(status);
    ledger_.AddReaped(reaped, last);
    log_->Write(reaped);
    if (ended.si_pid == command) result.command_status = status;
  }
}

void TreeSampler::End(int64_t stop_ns, std::optional<int> exit_status) {
  Sample();
  TreeEndFact end;
  end.time_ns = stop_ns;
  end.exit_status = exit_status;
  end.totals = ledger_.Totals();
  end.totals.net = net_bytes_;
  const std::optional<int64_t> oom_kills = ReadOomKills(oom_kills_file_);
  if (oom_kills.has_value() && oom_kills_before_.has_value()) end.totals.oom_kills = *oom_kills - *oom_kills_before_;
  if (!sees_processes_) {
    end.totals.tree_peak_rss_bytes.reset();
    end.totals.max_processes.reset();
    end.totals.max_threads.reset();
    end.totals.processes_left_running.reset();
  }
  end.gpus = gpus_.End();
  end.samples = samples_;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    end.sampler_cpu_ns = Nanoseconds(usage.ru_utime) + Nanoseconds(usage.ru_stime);
  }
  // Not ru_maxrss: exec(2) hands on the peak of whoever started crema.
  end.sampler_peak_rss_bytes = ParseProcStatus(ReadProcFile("/proc/self/status", &buffer_)).peak_rss_bytes;
  log_->Write(end);
}

}  // namespace crema
