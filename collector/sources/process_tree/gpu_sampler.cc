#include "collector/sources/process_tree/gpu_sampler.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

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

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;
  int (*processes)(Device, unsigned*, RunningProcess*) = nullptr;
  int (*graphics)(Device, unsigned*, RunningProcess*) = nullptr;
  int (*shares)(Device, ProcessShare*, unsigned*, unsigned long long) = nullptr;

  /// False if the library lacks the function, or the function fails.
  template <class Function, class... Arguments>
  static bool Call(Function* function, Arguments... arguments) {
    return function != nullptr && function(arguments...) == 0;
  }
};

template <class Function>
void Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
}

/// Loads the library and begins. nullopt, with the reason, if there is none.
std::optional<Nvml> Begin(std::string* problem) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *problem = "NVIDIA's driver is not installed (libnvidia-ml.so.1 was not found)";
    return std::nullopt;
  }
  Nvml nvml;
  Find(library, "nvmlInit_v2", &nvml.init);
  Find(library, "nvmlShutdown", &nvml.shutdown);
  Find(library, "nvmlSystemGetDriverVersion", &nvml.driver_version);
  Find(library, "nvmlDeviceGetCount_v2", &nvml.device_count);
  Find(library, "nvmlDeviceGetHandleByIndex_v2", &nvml.device);
  Find(library, "nvmlDeviceGetName", &nvml.name);
  Find(library, "nvmlDeviceGetUtilizationRates", &nvml.utilization);
  Find(library, "nvmlDeviceGetMemoryInfo", &nvml.memory);
  Find(library, "nvmlDeviceGetPowerUsage", &nvml.power);
  Find(library, "nvmlDeviceGetTotalEnergyConsumption", &nvml.energy);
  Find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml.processes);
  if (nvml.processes == nullptr) Find(library, "nvmlDeviceGetComputeRunningProcesses_v2", &nvml.processes);
  Find(library, "nvmlDeviceGetGraphicsRunningProcesses_v3", &nvml.graphics);
  Find(library, "nvmlDeviceGetProcessUtilization", &nvml.shares);
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
      !gpu.has_unlisted_processes && std::all_of(gpu.processes.begin(), gpu.processes.end(),
                                                 [](const RunningProcess& process) { return IsVisible(process.pid); });
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
  if (servers == 0 && gpu.knows_shares && std::all_of(gpu.shares.begin(), gpu.shares.end(), is_visible)) {
    row.tree_percent = row.other_percent = 0;
    for (const ProcessShare& share : gpu.shares) {
      if (share.pid != 0) *(is_of_tree(share.pid) ? row.tree_percent : row.other_percent) += share.sm;
    }
  }
  return row;
}

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
      const auto last = energy(gpu);
      if (last.has_value() && gpu.first_energy_mj.has_value()) {
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

GpuSampler::GpuSampler() = default;
GpuSampler::GpuSampler(GpuSampler&&) noexcept = default;
GpuSampler& GpuSampler::operator=(GpuSampler&&) noexcept = default;
GpuSampler::~GpuSampler() = default;

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
  std::vector<TreeGpu> rows;
  if (shared_ == nullptr) return rows;
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  for (const Gpu& gpu : shared_->gpus) rows.push_back(WithTree(gpu, is_of_tree));
  return rows;
}

std::vector<TreeGpu> GpuSampler::End() {
  std::vector<TreeGpu> rows;
  if (shared_ == nullptr) return rows;
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->ends = true;
  shared_->wakes.notify_all();
  shared_->wakes.wait_for(lock, kLongestWaitAtEnd, [this] { return shared_->has_ended; });
  for (const Gpu& gpu : shared_->gpus) rows.push_back(gpu.read);
  return rows;
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

}  // namespace crema
