// Observes ROOT's loops without crema: by its own action, ROOT's global counters, and clocks of the program.
#pragma once

#include <TFile.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ROOT/RDF/RActionImpl.hxx>
#include <ROOT/RDF/RSampleInfo.hxx>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace probe {

inline long Now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// One line of JSON for each sample of each task.
class Probe : public ROOT::Detail::RDF::RActionImpl<Probe> {
 public:
  using Result_t = int;
  explicit Probe(unsigned slots) : tasks_(std::make_shared<std::vector<Task>>(slots)) {}
  Probe(Probe&&) = default;
  Probe(const Probe&) = delete;

  std::shared_ptr<int> GetResultPtr() const { return result_; }
  std::string GetActionName() const { return "Probe"; }
  void Initialize() {}
  void InitTask(TTreeReader*, unsigned slot) { End(&(*tasks_)[slot]); }
  ROOT::RDF::SampleCallback_t GetSampleCallback() final {
    return [tasks = tasks_](unsigned slot, const ROOT::RDF::RSampleInfo& sample) {
      Task& task = (*tasks)[slot];
      End(&task);
      task = {true,  sample.AsString(),           sample.EntryRange(),
              0,     TFile::GetFileBytesRead(),   TFile::GetFileReadCalls(),
              Now(), Now(CLOCK_THREAD_CPUTIME_ID)};
    };
  }
  void Exec(unsigned slot) { ++(*tasks_)[slot].events; }
  void FinalizeTask(unsigned slot) { End(&(*tasks_)[slot]); }
  void Finalize() {}

 private:
  struct Task {
    bool is_open = false;
    std::string sample;
    std::pair<ULong64_t, ULong64_t> range;
    long events = 0;
    long bytes = 0;  ///< of the process: right where one thread reads
    int calls = 0;
    long start_ns = 0;
    long cpu_ns = 0;
  };

  static void End(Task* task) {
    if (!task->is_open) return;
    task->is_open = false;
    const long stop_ns = Now();
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    std::printf(
        "{\"sample\":\"%s\",\"first\":%llu,\"last\":%llu,\"events\":%ld,\"tid\":%ld,\"bytes\":%ld,\"calls\":%d,"
        "\"wall_ns\":%ld,\"cpu_ns\":%ld}\n",
        task->sample.c_str(), task->range.first, task->range.second, task->events, syscall(SYS_gettid),
        static_cast<long>(TFile::GetFileBytesRead()) - task->bytes, TFile::GetFileReadCalls() - task->calls,
        stop_ns - task->start_ns, Now(CLOCK_THREAD_CPUTIME_ID) - task->cpu_ns);
  }

  std::shared_ptr<int> result_ = std::make_shared<int>(0);
  std::shared_ptr<std::vector<Task>> tasks_;
};

}  // namespace probe
