// NVML of a machine with GPUs that are none. From the environment: STAND_IN_GPUS, their number (1); STAND_IN_TREE_PID,
// a file with the pid of a process that uses the first one; STAND_IN_NVML_ERROR, a function that fails;
// STAND_IN_NVML_HANGS, a function that does not return; STAND_IN_CALLS, a file to which each call appends its name;
// STAND_IN_OTHER_PID, the process that shares the first one (1); STAND_IN_NO_SHARES=1: no process has a share;
// STAND_IN_NO_PROCESSES=1: no process is listed, as in a container; STAND_IN_MPS_PID, the process that shares the first
// one is this one, an MPS server.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
struct Share {
  unsigned pid;
  unsigned long long time;
  unsigned sm, memory, encoder, decoder;
};

std::string Setting(const char* name) {
  const char* value = getenv((std::string("STAND_IN_") + name).c_str());
  return value == nullptr ? "" : value;
}

/// 0, or an error.
int Enter(const char* function) {
  if (!Setting("CALLS").empty()) std::ofstream(Setting("CALLS"), std::ios::app) << function << "\n";
  while (Setting("NVML_HANGS") == function) sleep(1000);
  return Setting("NVML_ERROR") == function ? 999 : 0;  // NVML_ERROR_UNKNOWN
}

unsigned TreePid() {
  unsigned pid = 0;
  std::ifstream(Setting("TREE_PID")) >> pid;
  return pid;
}

unsigned OtherPid(const char* setting) {
  const std::string pid = Setting("MPS_PID").empty() ? Setting(setting) : Setting("MPS_PID");
  return pid.empty() ? 1 : static_cast<unsigned>(std::stoul(pid));
}

unsigned long long g_energy = 1000;

}  // namespace

extern "C" {
int nvmlInit_v2() { return Enter("nvmlInit_v2"); }
int nvmlShutdown() { return Enter("nvmlShutdown"); }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.0");
  return Enter("nvmlSystemGetDriverVersion");
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = Setting("GPUS").empty() ? 1 : static_cast<unsigned>(std::stoul(Setting("GPUS")));
  return Enter("nvmlDeviceGetCount_v2");
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::size_t>(index + 1));
  return Enter("nvmlDeviceGetHandleByIndex_v2");
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "Stand-in \"100\"");
  return Enter("nvmlDeviceGetName");
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* rates) {
  rates[0] = 75;
  rates[1] = 20;
  return Enter("nvmlDeviceGetUtilizationRates");
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 8000000000;
  memory[1] = 5000000000;
  memory[2] = 3000000000;
  return Enter("nvmlDeviceGetMemoryInfo");
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  return *milliwatts = 250000, Enter("nvmlDeviceGetPowerUsage");
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = g_energy += 5000;
  return Enter("nvmlDeviceGetTotalEnergyConsumption");
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* rows) {
  const int error = Enter("nvmlDeviceGetComputeRunningProcesses_v3");
  if (error != 0) return error;
  if (Setting("NO_PROCESSES") == "1") return *count = 0;
  const unsigned pid = device == reinterpret_cast<void*>(1) ? TreePid() : 0;
  if (*count < 100) return *count = 100, 7;  // NVML_ERROR_INSUFFICIENT_SIZE
  rows[0] = {OtherPid("NONE"), 500000000, 0, 0};
  *count = pid == 0 ? 1 : 2;
  if (pid != 0) rows[1] = {pid, 2000000000, 0, 0};
  return 0;
}
int nvmlDeviceGetProcessUtilization(void*, Share* rows, unsigned* count, unsigned long long) {
  if (Setting("NO_SHARES") == "1") return Enter("nvmlDeviceGetProcessUtilization"), 6;  // NVML_ERROR_NOT_FOUND
  if (*count < 2) return *count = 2, 7;
  rows[0] = {OtherPid("OTHER_PID"), 1, 15, 0, 0, 0};
  rows[1] = {TreePid(), 2, 60, 0, 0, 0};
  *count = 2;
  return Enter("nvmlDeviceGetProcessUtilization");
}
}
