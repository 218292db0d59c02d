#include "collector/metrics/coffea/run_totals.h"

#include "collector/format/human_numbers.h"

namespace crema {
namespace {

void AddKnown(std::optional<int64_t>& sum, const std::optional<int64_t>& value) {
  if (value.has_value()) sum = SaturatingAdd(sum.value_or(0), *value);
}
void AddKnown(std::optional<double>& sum, const std::optional<double>& value) {
  if (value.has_value()) sum = sum.value_or(0) + *value;
}
void AddKnown(CoffeaSums& sums, const CoffeaSums& other) {
  AddKnown(sums.entries, other.entries);
  AddKnown(sums.duration, other.duration);
  AddKnown(sums.bytes, other.bytes);
}

constexpr std::string_view kRecords = "records";
constexpr std::string_view kReport = "coffea_report";
constexpr std::string_view kByDataset = "metrics_by_dataset";
constexpr std::string_view kBytes = "bytes read";

// Lines on single datasets; a campaign has hundreds.
constexpr size_t kMostDatasetWarnings = 10;

template <class T>
SourcedValue<T> FirstKnown(const std::vector<SourcedValue<T>>& values) {
  for (const SourcedValue<T>& value : values) {
    if (value.value.has_value()) return value;
  }
  return {};
}

std::string Phrase(std::string_view source) {
  if (source == kReport) return "the Coffea report";
  return source == kByDataset ? "the metrics by dataset" : "the records";
}

/// "events: 480000 in the records, 470000 in the Coffea report (2.1 % apart)", or nothing.
std::optional<std::string> Difference(std::string_view what, const std::optional<double>& ours,
                                      std::string_view our_source, const std::optional<double>& theirs,
                                      std::string_view their_source) {
  if (!ours.has_value() || !theirs.has_value()) return std::nullopt;
  const double difference = std::abs(*ours - *theirs);
  const double larger = std::max(*ours, *theirs);
  if (difference <= kLargeDifference * larger) return std::nullopt;
  const bool is_opening =
      what.find(kBytes) != std::string_view::npos && (theirs > ours ? their_source : our_source) != kRecords;
  return fmt::format("{}: {} in {}, {} in {} ({} apart); the first is used{}", what, HumanNumber(*ours),
                     Phrase(our_source), HumanNumber(*theirs), Phrase(their_source), HumanPercent(difference / larger),
                     is_opening ? ". Coffea counts the bytes of opening files, too" : "");
}

}  // namespace

void CoffeaAccumulator::Add(const CoffeaReport& report) {
  ++sums_.reports;
  AddKnown(sums_.report, {report.entries, report.processtime, report.bytesread});
  AddKnown(sums_.chunks, report.chunks);
  columns_.insert(report.columns.begin(), report.columns.end());
  sums_.has_columns |= report.has_columns;
}

void CoffeaAccumulator::Add(const MetricsByDataset& metrics) {
  for (const DatasetReport& dataset : metrics.datasets) {
    AddKnown(sums_.datasets[dataset.dataset], {dataset.entries, dataset.duration, dataset.num_requested_bytes});
  }
}

void CoffeaAccumulator::Merge(const CoffeaAccumulator& other) {
  sums_.reports += other.sums_.reports;
  AddKnown(sums_.report, other.sums_.report);
  AddKnown(sums_.chunks, other.sums_.chunks);
  columns_.insert(other.columns_.begin(), other.columns_.end());
  sums_.has_columns |= other.sums_.has_columns;
  for (const auto& [dataset, sums] : other.sums_.datasets) AddKnown(sums_.datasets[dataset], sums);
}

CoffeaFigures CoffeaAccumulator::Finalize() const {
  CoffeaFigures figures = sums_;
  figures.columns.assign(columns_.begin(), columns_.end());
  for (const auto& [dataset, sums] : figures.datasets) AddKnown(figures.of_datasets, sums);
  return figures;
}

RunTotals ChooseTotals(bool has_processes, const AttemptTotals& totals, const RecordedBytes& bytes_read_chunks,
                       const CoffeaFigures& coffea) {
  const bool has_attempts = totals.counts.num_attempts > 0;
  RunTotals chosen;
  chosen.bytes_read = FirstKnown<int64_t>(
      {{coffea.report.bytes, kReport}, {bytes_read_chunks, kRecords}, {coffea.of_datasets.bytes, kByDataset}});
  if (has_attempts) {
    chosen.busy_time = {totals.busy_ns.Seconds().value_or(0), kRecords};
    chosen.num_chunks = {totals.counts.num_chunks, kRecords};
    // An aggregate has one kind of source: events that the chunks did not record are not taken from elsewhere.
    if (const auto events = totals.events.Integer()) chosen.total_events = {events, kRecords};
    return chosen;
  }
  const std::optional<int64_t> zero = has_processes && coffea.empty() ? std::optional<int64_t>(0) : std::nullopt;
  chosen.busy_time = FirstKnown<double>(
      {{coffea.report.duration, kReport}, {coffea.of_datasets.duration, kByDataset}, {zero, kRecords}});
  chosen.num_chunks = FirstKnown<int64_t>({{coffea.chunks, kReport}, {zero, kRecords}});
  chosen.total_events =
      FirstKnown<int64_t>({{coffea.report.entries, kReport}, {coffea.of_datasets.entries, kByDataset}});
  return chosen;
}

std::string_view FillDatasets(const CoffeaFigures& coffea, std::vector<BreakdownRow>* by_dataset) {
  const bool has_recorded = !by_dataset->empty();
  std::set<std::string_view> recorded;
  for (const BreakdownRow& row : *by_dataset) recorded.insert(row.name);
  std::vector<BreakdownRow> filled;
  for (const auto& [dataset, sums] : coffea.datasets) {
    if (recorded.count(dataset) > 0) continue;
    BreakdownRow row;
    row.name = dataset;
    row.events = sums.entries;
    row.bytes_read = sums.bytes;
    row.duration_sum = sums.duration;
    row.event_rate = Ratio(sums.entries, sums.duration);
    filled.push_back(std::move(row));
  }
  const bool has_filled = !filled.empty();
  by_dataset->insert(by_dataset->end(), filled.begin(), filled.end());
  SortByCost(by_dataset);
  if (has_filled) return has_recorded ? "mixed" : kByDataset;
  return has_recorded ? kRecords : "";
}

std::vector<std::string> CompareSources(const RunTotals& chosen, const AttemptTotals& totals,
                                        const RecordedBytes& bytes_read_chunks, const CoffeaFigures& coffea,
                                        const std::vector<BreakdownRow>& by_dataset) {
  std::vector<std::string> warnings;
  const auto compare = [&](std::string_view what, const std::optional<double>& ours, std::string_view our_source,
                           const std::optional<double>& theirs, std::string_view their_source) {
    if (our_source == their_source) return;
    if (auto line = Difference(what, ours, our_source, theirs, their_source)) warnings.push_back(*std::move(line));
  };
  compare("chunks", chosen.num_chunks.value, chosen.num_chunks.source, coffea.chunks, kReport);
  for (const auto& [source, sums] : {std::pair(kReport, coffea.report), std::pair(kByDataset, coffea.of_datasets)}) {
    compare("events", chosen.total_events.value, chosen.total_events.source, sums.entries, source);
    compare("busy time in s", chosen.busy_time.value, chosen.busy_time.source, sums.duration, source);
    compare(kBytes, chosen.bytes_read.value, chosen.bytes_read.source, sums.bytes, source);
  }
  compare(kBytes, chosen.bytes_read.value, chosen.bytes_read.source, bytes_read_chunks, kRecords);
  if (totals.counts.num_attempts == 0) return warnings;

  const size_t of_run = warnings.size();
  for (const BreakdownRow& row : by_dataset) {
    const auto found = coffea.datasets.find(row.name);
    if (found == coffea.datasets.end()) continue;
    if (!row.attempts.has_value()) {
      warnings.push_back(fmt::format("dataset {}: only in the metrics by dataset; no record names it", row.name));
      continue;
    }
    const CoffeaSums& sums = found->second;
    const auto what = [&](std::string_view quantity) { return fmt::format("dataset {}, {}", row.name, quantity); };
    compare(what("events"), row.events, kRecords, sums.entries, kByDataset);
    compare(what("busy time in s"), row.duration_sum, kRecords, sums.duration, kByDataset);
    compare(what(kBytes), row.bytes_read, kRecords, sums.bytes, kByDataset);
  }
  if (warnings.size() > of_run + kMostDatasetWarnings) {
    const size_t more = warnings.size() - of_run - kMostDatasetWarnings;
    warnings.resize(of_run + kMostDatasetWarnings);
    warnings.push_back(fmt::format("{} more differences between records and metrics by dataset", more));
  }
  return warnings;
}

}  // namespace crema
