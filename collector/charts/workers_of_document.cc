#include "collector/charts/workers_of_document.h"

#include <set>
#include <string>

namespace crema {

WorkerNames NamesOfWorkers(const Measurement& measurement) {
  std::set<std::string> names;
  for (const WorkerRow& worker : measurement.workers) names.insert(worker.name);
  for (const char* series : {"worker_memory", "worker_cpu", "worker_active_tasks"}) {
    const auto* workers = measurement.timelines.Find(series);
    if (workers == nullptr) continue;
    for (const auto& [name, points] : *workers) names.insert(name);
  }
  return WorkerNames(names);
}

}  // namespace crema
