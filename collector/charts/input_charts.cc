// What was read of the input: bytes, branches, compression.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/log_histogram.h"
#include "collector/detail/run_detail.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

const ValueShape* FindShape(const ChartInput& input, std::string_view quantity) {
  return input.detail == nullptr ? nullptr : input.detail->FindDistribution(quantity);
}

std::string Why(const ChartInput& input, const std::string& otherwise) {
  if (input.detail == nullptr) return "the single chunks are not known: this is a measurement without its records";
  return input.detail->why_no_attempts.empty() ? otherwise : input.detail->why_no_attempts;
}

/// Sorted values: the x axis is the share of chunks that have at most this much.
void AddProfile(const ValueShape& shape, double factor, const std::string& name, Json* values) {
  const size_t count = shape.sorted.size();
  for (size_t i = 0; i < count; ++i) {
    values->push_back({{"rank", Rounded(100.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(count))},
                       {"v", Rounded(shape.sorted[i] * factor)},
                       {"name", name}});
  }
}

Json ProfileBody(Json values, const std::string& title, const std::vector<std::string>& names,
                 const std::vector<std::string_view>& colours) {
  Json x = Quantity("rank", "chunks, from the least to the most [%]");
  x["scale"] = {{"domain", {0, 100}}};
  Json colour = NamedColours("name", names, colours);
  if (names.size() < 2) colour["legend"] = nullptr;
  if (names.size() >= 2) colour["legend"] = {{"symbolType", "stroke"}, {"symbolStrokeWidth", 3}};
  const bool few = values.size() <= 20 * names.size();
  return {{"width", 640},
          {"height", 240},
          {"data", InlineData(std::move(values))},
          {"mark", {{"type", "line"}, {"interpolate", "step"}, {"point", few}}},
          {"encoding", {{"x", x}, {"y", Quantity("v", title)}, {"color", std::move(colour)}}}};
}

double MeanOf(const ValueShape& shape) { return shape.sum / static_cast<double>(shape.count); }

}  // namespace

Drawing DrawBytesAccessed(const ChartInput& input) {
  const ValueShape* read = FindShape(input, "bytes_read");
  const ValueShape* uncompressed = FindShape(input, "bytes_uncompressed");
  if (read == nullptr && uncompressed == nullptr) return NotDrawn(Why(input, "no chunk told how many bytes it read"));
  Json values = Json::array();
  std::vector<std::string> names;
  std::vector<std::string_view> colours;
  std::string finding;
  if (read != nullptr) {
    AddProfile(*read, 1e-6, "as stored", &values);
    names.emplace_back("as stored");
    colours.emplace_back("data");
    finding = fmt::format("as stored {} a chunk on average", HumanData(MeanOf(*read)));
  }
  if (uncompressed != nullptr) {
    AddProfile(*uncompressed, 1e-6, "uncompressed", &values);
    names.emplace_back("uncompressed");
    colours.emplace_back("wait");
    finding += fmt::format("{}uncompressed {}", finding.empty() ? "" : ", ", HumanData(MeanOf(*uncompressed)));
  }
  return {ProfileBody(std::move(values), "read by a chunk [MB]", names, colours), finding, ""};
}

Drawing DrawDataAccess(const ChartInput& input) {
  Json values = Json::array();
  std::string finding;
  for (const auto& [key, label] : {std::pair<std::string_view, std::string_view>{"branches_read_share", "branches"},
                                   {"bytes_read_share", "bytes"}}) {
    const auto share = input.measurement->Metric(key);
    if (!share.has_value()) continue;
    values.push_back(
        {{"what", label}, {"share", Rounded(100 * *share)}, {"words", HumanPercent(*share, 1)}, {"all", 100}});
    finding += fmt::format("{}{} of all {}", finding.empty() ? "" : ", ", HumanPercent(*share, 1), label);
  }
  if (values.empty())
    return NotDrawn("how much of the files was read is not known: " +
                    input.measurement->WhyNotMeasured("bytes_read_share"));
  const Json y = Names("what", "");
  Json x = Quantity("share", "of what the files hold [%]");
  x["scale"] = {{"domain", {0, 100}}};
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "bar"}, {"style", "idle"}, {"height", {{"band", 0.6}}}}},
                    {"encoding", {{"y", y}, {"x", Quantity("all", "of what the files hold [%]")}}}});
  layers.push_back({{"mark", {{"type", "bar"}, {"style", "data"}, {"height", {{"band", 0.6}}}}},
                    {"encoding", {{"y", y}, {"x", x}}}});
  layers.push_back({{"mark", {{"type", "text"}, {"style", "strong-label"}, {"align", "left"}, {"dx", 5}}},
                    {"encoding", {{"y", y}, {"x", x}, {"text", {{"field", "words"}, {"type", "nominal"}}}}}});
  Json body = {{"width", 520},
               {"height", {{"step", 34}}},
               {"data", InlineData(std::move(values))},
               {"layer", std::move(layers)}};
  return {std::move(body), finding + " were read, mean over files", ""};
}

}  // namespace crema
