#include "collector/charts/workers_of_document.h"

#include <set>
#include <string>

#include "collector/document/document_fields.h"

namespace crema {

using Json = nlohmann::ordered_json;

WorkerNames NamesOfWorkers(const Json& document) {
  std::set<std::string> names;
  for (const Json& worker : ListField(document, "workers")) names.insert(TextField(worker, "name"));
  for (const char* series : {"worker_memory", "worker_cpu", "worker_active_tasks"}) {
    const Json& workers = Field(Field(document, "timelines"), series);
    if (!workers.is_object()) continue;
    for (const auto& [name, points] : workers.items()) names.insert(name);
  }
  return WorkerNames(names);
}

}  // namespace crema
