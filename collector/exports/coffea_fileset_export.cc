// `crema export --to coffea-fileset`.
#include <string>
#include <vector>

#include "collector/exports/formats.h"
#include "collector/exports/missing_ranges.h"
#include "nlohmann/json.hpp"

namespace crema {

absl::Status WriteCoffeaFileset(const ExportSource& source, const std::string&, TextSink* sink) {
  const absl::StatusOr<std::vector<MissingFile>> missing = FindMissing(source);
  if (!missing.ok()) return missing.status();
  nlohmann::ordered_json fileset = nlohmann::ordered_json::object();
  for (const MissingFile& file : *missing) {
    auto& files = fileset[file.dataset]["files"];
    auto& entry = files[file.file];
    entry["object_path"] = file.tree.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(file.tree);
    for (const MissingRange& range : file.ranges) {
      if (range.has_value()) entry["steps"].push_back({range->first, range->second});
    }
  }
  using Handler = nlohmann::ordered_json::error_handler_t;
  sink->Write(fileset.dump(2, ' ', false, Handler::replace) + "\n");
  return absl::OkStatus();
}

}  // namespace crema
