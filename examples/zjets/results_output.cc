#include "examples/zjets/results_output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace zjets {
namespace {

using Json = nlohmann::ordered_json;

/// The generator's cross section of the dataset's process, pb; of its first file, as files of a dataset are alike.
double CrossSection(const Options& options, const Plan& plan, std::size_t dataset) {
  std::size_t file = 0;
  for (std::size_t i = 0; i < dataset; ++i) file += options.datasets[i].files.size();
  return plan.files[file].init.cross_section_pb;
}

/// The share of the weights gives the cross section, whatever the file's weighting strategy is.
double CrossSectionAfter(const DatasetResults& results, std::size_t cut, double cross_section_pb) {
  const double all = results.cuts()[kAllEvents].weights.value();
  return all == 0 ? 0 : cross_section_pb * (results.cuts()[cut].weights.value() / all);
}

Json CutsAsJson(const DatasetResults& results, double cross_section_pb) {
  Json cuts = Json::array();
  for (std::size_t cut = 0; cut < kCutNames.size(); ++cut) {
    cuts.push_back({{"name", kCutNames[cut]},
                    {"events", results.cuts()[cut].events},
                    {"sum_of_weights", results.cuts()[cut].weights.value()},
                    {"cross_section_pb", CrossSectionAfter(results, cut, cross_section_pb)}});
  }
  return cuts;
}

Json HistogramAsJson(const Histogram& histogram) {
  Json entries = Json::array(), weights = Json::array(), squared_weights = Json::array();
  for (const HistogramBin& bin : histogram.bins()) {
    entries.push_back(bin.entries);
    weights.push_back(bin.weights.value());
    squared_weights.push_back(bin.squared_weights.value());
  }
  const HistogramAxis& axis = histogram.axis();
  return {{"name", axis.name},         {"unit", axis.unit},
          {"bins", axis.bins},         {"low", axis.low},
          {"high", axis.high},         {"entries", entries},
          {"sum_of_weights", weights}, {"sum_of_squared_weights", squared_weights}};
}

}  // namespace

std::string ResultsAsJson(const Options& options, const Plan& plan, const WorkerReport& report) {
  std::vector<std::string> failures = report.failures;
  std::sort(failures.begin(), failures.end());
  Json document = {{"format", "zjets.histograms/1"}, {"pileup", options.pileup},     {"ghost_area", options.ghost_area},
                   {"repeat", options.repeat},       {"complete", failures.empty()}, {"failures", failures},
                   {"datasets", Json::array()}};
  for (std::size_t i = 0; i < report.datasets.size(); ++i) {
    const double cross_section_pb = CrossSection(options, plan, i);
    Json histograms = Json::array();
    for (const Histogram& histogram : report.datasets[i].histograms()) histograms.push_back(HistogramAsJson(histogram));
    document["datasets"].push_back({{"name", options.datasets[i].name},
                                    {"files", options.datasets[i].files},
                                    {"cross_section_pb", cross_section_pb},
                                    {"cuts", CutsAsJson(report.datasets[i], cross_section_pb)},
                                    {"histograms", histograms}});
  }
  return document.dump(1) + "\n";
}

std::string CutFlowTable(const Options& options, const Plan& plan, const WorkerReport& report) {
  std::string table = fmt::format("{:<14}", "");
  for (const Dataset& dataset : options.datasets) table += fmt::format("  {:>20}", dataset.name);
  table += "\n";
  for (std::size_t cut = 0; cut < kCutNames.size(); ++cut) {
    table += fmt::format("{:<14}", kCutNames[cut]);
    for (std::size_t i = 0; i < report.datasets.size(); ++i) {
      const double cross_section_pb = CrossSectionAfter(report.datasets[i], cut, CrossSection(options, plan, i));
      table += fmt::format("  {:>8} {:>8.1f} pb", report.datasets[i].cuts()[cut].events, cross_section_pb);
    }
    table += "\n";
  }
  return table;
}

void WriteFile(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

}  // namespace zjets
