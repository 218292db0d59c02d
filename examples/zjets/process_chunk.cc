#include "examples/zjets/process_chunk.h"

#include <atomic>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "crema/crema.h"
#include "examples/zjets/clustering.h"
#include "examples/zjets/pileup_subtraction.h"
#include "examples/zjets/selection.h"
#include "fmt/format.h"

namespace zjets {
namespace {

struct ClusteredEvent {
  std::vector<Jet> jets;
  double pileup_density = 0;  ///< GeV per unit area
};

std::vector<LheEvent> ReadEvents(const LheFile& file, const WorkItem& item, crema::TrackMetrics& chunk) {
  ReadCosts costs;
  std::string text;
  {
    crema::TrackSection section("read");
    text = ReadLheText(file, item.first, item.last, &costs);
  }
  chunk.AddBytesRead(costs.bytes_read, costs.bytes_unzipped);
  crema::RecordMetric(crema::metric::kBytesRead, costs.bytes_needed, "B");
  crema::RecordMetric(crema::metric::kReadOverheadBytes, costs.bytes_read - costs.bytes_needed, "B");
  crema::RecordMetric(crema::metric::kReadCalls, costs.read_calls, "count");
  crema::RecordMetric(crema::metric::kReadWall, costs.read_seconds, "s");
  crema::RecordMetric(crema::metric::kUnzipBytes, costs.bytes_unzipped, "B");
  crema::RecordMetric(crema::metric::kUnzipWall, costs.unzip_seconds, "s");
  crema::TrackSection section("parse");
  return ParseLheEvents(file, item.first, item.last, text);
}

ClusteredEvent ClusterEvent(const AnalysisInput& input, const LheEvent& event, const EventId& id) {
  std::vector<Parton> partons;
  {
    crema::TrackSection section("overlay");
    partons = Overlay(event, id, input.pileup, input.options.pileup);
  }
  ClusteredEvent clustered;
  {
    crema::TrackSection section("cluster");
    clustered.jets = ClusterJets(partons, input.ghosts);
  }
  crema::TrackSection section("subtract");
  clustered.pileup_density = PileupDensity(clustered.jets);
  SubtractPileup(clustered.pileup_density, &clustered.jets);
  return clustered;
}

/// The chunk's own thread and its helpers take the next event whenever they are free. Each result has its own place, so
/// it does not matter which thread computed it.
std::vector<ClusteredEvent> ClusterEvents(const AnalysisInput& input, const WorkItem& item,
                                          const std::vector<LheEvent>& events, crema::TrackMetrics& chunk) {
  crema::TrackMemory memory("jets");
  const std::string& dataset = input.options.datasets[static_cast<std::size_t>(item.dataset)].name;
  std::vector<ClusteredEvent> clustered(events.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < events.size(); i = next++) {
      const EventId id{dataset, static_cast<std::uint64_t>(item.file_in_dataset),
                       static_cast<std::uint64_t>(item.first) + i, static_cast<std::uint64_t>(item.repeat)};
      clustered[i] = ClusterEvent(input, events[i], id);
    }
  };
  std::vector<std::future<void>> helpers;
  for (int i = 0; i < input.options.helpers; ++i) {
    helpers.push_back(std::async(std::launch::async, [&work, handle = chunk.handle()] {
      crema::TrackHelper helper(handle);
      work();
    }));
  }
  work();
  for (std::future<void>& helper : helpers) helper.get();
  return clustered;
}

std::vector<Selection> SelectEvents(const std::vector<LheEvent>& events, const std::vector<ClusteredEvent>& clustered) {
  crema::TrackSection section("select");
  std::vector<Selection> selections;
  selections.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) selections.push_back(Select(events[i], clustered[i].jets));
  return selections;
}

DatasetResults FillResults(const std::vector<LheEvent>& events, const std::vector<ClusteredEvent>& clustered,
                           const std::vector<Selection>& selections) {
  crema::TrackSection section("fill");
  DatasetResults results;
  for (std::size_t i = 0; i < events.size(); ++i) {
    results.CountCuts(selections[i], events[i].weight);
    results.Fill(selections[i], clustered[i].pileup_density, events[i].weight);
  }
  return results;
}

void RecordPhysics(const std::vector<ClusteredEvent>& clustered, const std::vector<Selection>& selections,
                   const DatasetResults& results) {
  std::size_t jets = 0, signal_jets = 0;
  for (const ClusteredEvent& event : clustered) {
    jets += event.jets.size();
    crema::RecordMetric("pileup_density", event.pileup_density, "GeV");
  }
  for (const Selection& selection : selections) signal_jets += selection.jets.size();
  crema::RecordMetric("jets", jets, "count");
  crema::RecordMetric("selected_jets", signal_jets, "count");
  for (std::size_t cut = 0; cut < kCutNames.size(); ++cut) {
    const crema::CutInput input = {cut == 0 ? std::string_view() : kCutNames[cut - 1]};  // the cut before
    crema::RecordCut(kCutNames[cut], results.cuts()[cut].events, results.cuts()[cut].weights.value(), input);
  }
}

}  // namespace

AnalysisInput PrepareAnalysis(const Options& options, const Plan& plan) {
  crema::TrackSection section("set up");
  AnalysisInput input{options, plan, {}, {}};
  PrepareFastJet();
  if (options.pileup == 0) return input;
  input.ghosts = MakeGhosts(options.ghost_area);
  ReadCosts costs;
  std::string text;
  {
    crema::TrackSection read("read");
    text = ReadLheText(plan.pileup, 0, plan.pileup.events(), &costs);
  }
  crema::TrackSection parse("parse");
  for (const LheEvent& event : ParseLheEvents(plan.pileup, 0, plan.pileup.events(), text)) {
    input.pileup.push_back(OutgoingPartons(event, /*signal=*/false));
  }
  return input;
}

DatasetResults ProcessChunk(const AnalysisInput& input, const WorkItem& item) {
  const Options& options = input.options;
  const LheFile& file = input.plan.files[static_cast<std::size_t>(item.file)];
  const std::string& dataset = options.datasets[static_cast<std::size_t>(item.dataset)].name;
  crema::Chunk chunk(dataset, file.path);
  if (item.first < item.last) chunk = crema::Chunk(dataset, file.path, item.first, item.last);
  chunk.tree = "LesHouchesEvents";
  std::string pass;
  if (options.repeat > 1) {  // else the second pass would count as the first one's repetition
    pass = fmt::format("process/{}", item.repeat + 1);
    chunk.pass = pass;
  }
  return crema::RunChunk(chunk, [&](crema::TrackMetrics& guard) {
    const std::vector<LheEvent> events = ReadEvents(file, item, guard);
    const std::vector<ClusteredEvent> clustered = ClusterEvents(input, item, events, guard);
    const std::vector<Selection> selections = SelectEvents(events, clustered);
    DatasetResults results = FillResults(events, clustered, selections);
    RecordPhysics(clustered, selections, results);
    guard.SetEvents(events.size());
    return results;
  });
}

}  // namespace zjets
