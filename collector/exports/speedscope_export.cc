// `crema export --to speedscope`: https://www.speedscope.app/file-format-schema.json.
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/exports/formats.h"
#include "collector/exports/sampled_stacks.h"
#include "collector/records/section_path.h"
#include "crema/version.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// The frames of all profiles: sections come first as frames without a file.
class Frames {
 public:
  size_t NumberOf(const SampledFunction& function) {
    const auto [known, is_new] = numbers_.try_emplace(function, list_.size());
    if (is_new) {
      Json frame = {{"name", function.name}};
      if (!function.file.empty()) frame["file"] = function.file;
      if (function.line.has_value()) frame["line"] = *function.line;
      list_.push_back(std::move(frame));
    }
    return known->second;
  }
  const Json& list() const { return list_; }

 private:
  std::map<SampledFunction, size_t> numbers_;
  Json list_ = Json::array();
};

}  // namespace

absl::Status WriteSpeedscope(const ExportSource& source, const std::string&, TextSink* sink) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  struct Profile {
    Json samples = Json::array();
    Json weights = Json::array();
    double cpu_seconds = 0;
  };
  Frames frames;
  std::map<std::string, Profile> profiles;  // by dataset
  for (const auto& [place, by_stack] : stacks->places) {
    Profile& profile = profiles[DatasetFrame(place.dataset)];
    std::vector<size_t> sections;
    for (const std::string& name : NamesOfPath(place.section)) sections.push_back(frames.NumberOf({name, "", {}, ""}));
    for (const auto& [functions, weight] : by_stack) {
      std::vector<size_t> sample = sections;
      for (const size_t function : functions) sample.push_back(frames.NumberOf(stacks->functions[function]));
      profile.samples.push_back(std::move(sample));
      profile.weights.push_back(weight.cpu_seconds);
      profile.cpu_seconds += weight.cpu_seconds;
    }
  }
  Json list = Json::array();
  for (auto& [dataset, profile] : profiles) {
    list.push_back({{"type", "sampled"},
                    {"name", dataset},
                    {"unit", "seconds"},
                    {"startValue", 0},
                    {"endValue", profile.cpu_seconds},
                    {"samples", std::move(profile.samples)},
                    {"weights", std::move(profile.weights)}});
  }
  const Json document = {{"exporter", "crema " CREMA_VERSION_STRING},
                         {"$schema", "https://www.speedscope.app/file-format-schema.json"},
                         {"shared", {{"frames", frames.list()}}},
                         {"profiles", std::move(list)}};
  sink->Write(document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  return absl::OkStatus();
}

}  // namespace crema
