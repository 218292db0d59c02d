// Event loops of RDataFrame with crema and a probe: frames CASE THREADS FILE...
#include <TChain.h>
#include <TEntryList.h>
#include <TFile.h>
#include <TROOT.h>

#include <ROOT/RCsvDS.hxx>
#include <ROOT/RDF/RDatasetSpec.hxx>
#include <ROOT/RDF/Utils.hxx>
#include <ROOT/RDFHelpers.hxx>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RLogger.hxx>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "crema/root.h"
#include "entry_list.h"
#include "probe.h"

namespace {

using Files = std::vector<std::string>;

double SumOf(ROOT::RDF::RNode node) {
  auto passed = node.Filter([](double x) { return x > 0; }, {"x"}).Sum<double>("y");
  return *passed;
}

void Probed(ROOT::RDF::RNode node) {
  auto probe = node.Book<>(probe::Probe(node.GetNSlots()));
  std::cout << "sum " << SumOf(node) << std::endl;
}

void OneLoop(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  Probed(events);
}

/// 2 us for each entry, so that reading a clock between two actions hardly matters.
void SlowLoop(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  const auto spin = [](double x) {
    const long start = probe::Now();
    while (probe::Now() - start < 2000) {
    }
    return x > 0;
  };
  auto probe = events.Book<>(probe::Probe(events.GetNSlots()));
  std::cout << "count " << *events.Filter(spin, {"x"}).Count() << std::endl;
}

/// files[0] says how many of the columns c0, c1, ... are read.
void Columns(const Files& files) {
  ROOT::RDataFrame events("Events", Files(files.begin() + 1, files.end()));
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  std::vector<ROOT::RDF::RResultPtr<float>> sums;
  for (int i = 0; i < std::atoi(files[0].c_str()); ++i) sums.push_back(events.Sum<float>("c" + std::to_string(i)));
  std::cout << "sum " << *sums[0] << std::endl;
}

void SeveralLoops(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  for (int i = 0; i < 3; ++i) std::cout << "sum " << SumOf(events) << std::endl;
}

void SeveralFrames(const Files& files) {
  ROOT::RDataFrame first("Events", {files[0]});
  ROOT::RDataFrame second("Events", {files[1]});
  auto tracked_first = crema::TrackDataFrame(first, {"ttbar"});
  auto tracked_second = crema::TrackDataFrame(second, {"zjets"});
  auto sum_first = first.Sum<double>("y");
  auto sum_second = second.Sum<double>("y");
  ROOT::RDF::RunGraphs({sum_first, sum_second});
  std::cout << "sum " << *sum_first + *sum_second << std::endl;
}

void TwoFramesOfTheSameFiles(const Files& files) {
  ROOT::RDataFrame first("Events", files);
  ROOT::RDataFrame second("Events", files);
  auto tracked_first = crema::TrackDataFrame(first, {"ttbar"});
  auto tracked_second = crema::TrackDataFrame(second, {"ttbar"});
  std::cout << "sum " << SumOf(first) + SumOf(second) << std::endl;
}

void FilteredNode(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto few = events.Filter([](double x) { return x > 2; }, {"x"});
  auto tracked = crema::TrackDataFrame(few, {"ttbar"});
  std::cout << "count " << *few.Count() << std::endl;
}

void Samples(const Files& files) {
  ROOT::RDF::Experimental::RDatasetSpec spec;
  const char* const names[] = {"ttbar", "zjets", "data"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    spec.AddSample(ROOT::RDF::Experimental::RSample(names[i], "Events", files[i]));
  }
  ROOT::RDataFrame events(spec);
  auto tracked = crema::TrackDataFrame(events);
  Probed(events);
}

void GlobalRange(const Files& files) {
  ROOT::RDF::Experimental::RDatasetSpec spec;
  for (const std::string& file : files) spec.AddSample(ROOT::RDF::Experimental::RSample(file, "Events", file));
  spec.WithGlobalRange({30'000, 70'000});
  ROOT::RDataFrame events(spec);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  Probed(events);
}

void Chain(const Files& files) {
  TChain chain("Events");
  for (const std::string& file : files) chain.Add(file.c_str());
  ROOT::RDataFrame events(chain);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  Probed(events);
}

/// The first 1000 entries of every file that 7 divides.
void EntryList(const Files& files) {
  TChain chain("Events");
  TEntryList list("list", "list");
  ChooseEntries(files, &chain, &list);
  ROOT::RDataFrame events(chain);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  std::cout << "sum " << SumOf(events) << std::endl;
}

void Tree(const Files& files) {
  const std::unique_ptr<TFile> file(TFile::Open(files[0].c_str()));
  ROOT::RDataFrame events(*file->Get<TTree>("Events"));
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  Probed(events);
}

void SmallChunks(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  crema::DataFrameOptions options("ttbar");
  options.entries_per_chunk = 15'000;
  auto tracked = crema::TrackDataFrame(events, options);
  std::cout << "sum " << SumOf(events) << std::endl;
}

void EmptySource(const Files&) {
  ROOT::RDataFrame events(1000);
  auto tracked = crema::TrackDataFrame(events, {"toys"});
  std::cout << "count " << *events.Count() << std::endl;
}

void Csv(const Files& files) {
  auto events = ROOT::RDF::FromCSV(files[0]);
  auto tracked = crema::TrackDataFrame(events, {"numbers"});
  std::cout << "count " << *events.Count() << std::endl;
}

void Range(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  long entries = 0;
  auto counted = events.Filter([&entries] { return ++entries > 0; }).Range(100).Count();
  std::cout << "count " << *counted << " entries " << entries << std::endl;
}

double SquareOfAJet(double x) {
  if (x > 3.9) throw std::runtime_error("no such jet");
  return x * x;
}

template <class Function>
void Throws(const Files& files, Function function) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto sum = events.Define("z", std::move(function), {"x"}).template Sum<double>("z");
  try {
    std::cout << "sum " << *sum << std::endl;
  } catch (const std::exception& error) {
    std::cout << "caught " << error.what() << std::endl;
  }
}

void Throw(const Files& files) { Throws(files, SquareOfAJet); }
void ThrowTimed(const Files& files) { Throws(files, crema::Timed("square", SquareOfAJet)); }

void Timed(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto sum =
      events.Define("z", crema::Timed("square", [](double x) { return x * x; }), {"x"})
          .Filter(crema::Timed("cut", [](double z, const ROOT::RVecF& v) { return z > 1 && v.size() > 2; }), {"z", "v"})
          .Sum<double>("z");
  std::cout << "sum " << *sum << std::endl;
}

void CutFlow(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto report = events.Filter([](double x) { return x > 0; }, {"x"}, "positive")
                    .Filter([](double y) { return y > 1; }, {"y"}, "large")
                    .Filter("v.size() > 2", "compiled as it runs")
                    .Report();
  for (const auto& cut : *report) std::cout << cut.GetName() << "=" << cut.GetPass() << std::endl;
}

/// Prints what ROOT reports of each loop: number of the loop, name, passed, asked.
void Branches(const Files& files) {
  int loop = 0;
  const auto print = [&loop](ROOT::RDF::RResultPtr<ROOT::RDF::RCutFlowReport> report) {
    for (const auto& cut : *report) {
      std::cout << loop << "|" << cut.GetName() << "|" << cut.GetPass() << "|" << cut.GetAll() << std::endl;
    }
    ++loop;
  };
  for (const double least : {1., 2.}) {
    ROOT::RDataFrame events("Events", files);
    auto tracked = crema::TrackDataFrame(events, {"ttbar"});
    auto signal = events.Filter([](double x) { return x > 0; }, {"x"}, "sign");
    auto control = events.Filter([](double x) { return x > 2; }, {"x"}, "sign");
    const auto is_large = [least](double y) { return y > least; };
    auto large = signal.Filter(is_large, {"y"}, "large");
    auto control_large = control.Filter([](double y) { return y < 1; }, {"y"}).Filter(is_large, {"y"}, "large");
    print(events.Report());
    auto compiled = signal.Filter("v.size() > 2", "x/y");
    auto behind = compiled.Filter([](double y) { return y > 1; }, {"y"}, "large");
    print(events.Report());
  }
}

void Varied(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  const auto shift = [](double x) { return ROOT::RVecD{x - 1, x + 1}; };
  auto positive =
      events.Vary("x", shift, {"x"}, {"down", "up"}).Filter([](double x) { return x > 0; }, {"x"}, "positive");
  auto counts = ROOT::RDF::Experimental::VariationsFor(positive.Count());
  std::cout << "positive=" << counts["nominal"] << std::endl;
}

void Caught(const Files& files) {
  try {
    ROOT::RDataFrame events("Events", files);
    auto tracked = crema::TrackDataFrame(events, {"ttbar"});
    std::cout << "sum " << SumOf(events) << std::endl;
  } catch (const std::exception& error) {
    std::cout << "caught " << error.what() << std::endl;
  }
}

/// A node that ROOT compiles as the loop begins, in two loops.
void Compiled(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto positive = events.Filter("x > 0");
  std::cout << "count " << *positive.Count() << std::endl;
  std::cout << "count " << *positive.Count() << std::endl;
}

void CompiledTogether(const Files& files) {
  ROOT::RLogScopedVerbosity verbosity(ROOT::Detail::RDF::RDFLogChannel(), ROOT::ELogLevel::kInfo);
  ROOT::RDataFrame first("Events", files), second("Events", files);
  auto tracked = crema::TrackDataFrame(first, {"ttbar"});
  auto other = crema::TrackDataFrame(second, {"zjets"});
  auto count_first = first.Filter("x > 0").Count(), count_second = second.Filter("y > 0").Count();
  ROOT::RDF::RunGraphs({count_first, count_second});
  std::cout << "counts " << *count_first << " " << *count_second << std::endl;
}

/// The program asks for ROOT's log, before and behind the guard.
void Logged(const Files& files) {
  for (const bool is_before : {true, false}) {
    std::optional<ROOT::RLogScopedVerbosity> verbosity;
    if (is_before) verbosity.emplace(ROOT::Detail::RDF::RDFLogChannel(), ROOT::ELogLevel::kInfo);
    ROOT::RDataFrame events("Events", files);
    auto tracked = crema::TrackDataFrame(events, {"ttbar"});
    if (!is_before) verbosity.emplace(ROOT::Detail::RDF::RDFLogChannel(), ROOT::ELogLevel::kInfo);
    std::cout << "count " << *events.Filter(is_before ? "x > 0" : "x > 1").Count() << std::endl;
  }
}

void FrameEndsFirst(const Files& files) {
  std::optional<ROOT::RDataFrame> events(std::in_place, "Events", files);
  crema::TrackedDataFrame tracked = crema::TrackDataFrame(*events, {"ttbar"});
  std::cout << "sum " << SumOf(*events) << std::endl;
  events.reset();
}

void HandleEndsFirst(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  std::optional<crema::TrackedDataFrame> tracked = crema::TrackDataFrame(events, {"ttbar"});
  std::cout << "sum " << SumOf(events) << std::endl;
  tracked.reset();
  std::cout << "sum " << SumOf(events) << std::endl;
}

crema::TrackedDataFrame TrackOneNode(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto few = events.Filter([](double x) { return x > 2; }, {"x"});
  crema::TrackedDataFrame tracked = crema::TrackDataFrame(few, {"ttbar"});
  std::cout << "count " << *few.Count() << std::endl;
  return tracked;
}

void NodeEndsFirst(const Files& files) {
  auto tracked = TrackOneNode(files);
  const auto other = TrackOneNode(files);
  tracked = crema::TrackedDataFrame();
}

void NeverRun(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  std::cout << "runs " << events.GetNRuns() << std::endl;
}

void Friends(const Files& files) {
  TChain chain("Events");
  TChain other("Events");
  for (const std::string& file : files) {
    chain.Add(file.c_str());
    other.Add(file.c_str());
  }
  chain.AddFriend(&other, "other");
  ROOT::RDataFrame events(chain);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto probe = events.Book<>(probe::Probe(events.GetNSlots()));
  std::cout << "sum " << *events.Define("z", "x + other.x").Sum("z") << std::endl;
}

/// files: one with the tree, one with its friend.
void IndexedFriend(const Files& files) {
  const std::unique_ptr<TFile> file(TFile::Open(files[0].c_str()));
  auto* tree = file->Get<TTree>("Events");
  tree->AddFriend("Other", files[1].c_str());
  ROOT::RDataFrame events(*tree);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto probe = events.Book<>(probe::Probe(events.GetNSlots()));
  auto weighted = events.DefaultValueFor("Other.weight", 0.F).Sum<float>("Other.weight");
  std::cout << "sum " << *weighted << std::endl;
}

/// files[0] is a folder; makes and reads as many files of one entry as files[1] says.
void ManyFiles(const Files& files) {
  const std::string first = files[0] + "/0.root";
  ROOT::RDataFrame(1).Define("x", [] { return 1.0; }).Snapshot("Events", first, {"x"});
  Files paths{first};
  for (int i = 1; i < std::atoi(files[1].c_str()); ++i) {
    paths.push_back(files[0] + "/" + std::to_string(i) + ".root");
    std::filesystem::create_hard_link(first, paths.back());
  }
  ROOT::RDataFrame events("Events", paths);
  auto tracked = crema::TrackDataFrame(events, {"tiny"});
  std::cout << "sum " << *events.Sum<double>("x") << std::endl;
}

/// 100 us of CPU for each entry.
void Busy(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  const auto spin = [](double x) {
    const long start = probe::Now(CLOCK_THREAD_CPUTIME_ID);
    while (probe::Now(CLOCK_THREAD_CPUTIME_ID) - start < 100'000) {
    }
    return x > 0;
  };
  std::cout << "count " << *events.Filter(spin, {"x"}).Count() << std::endl;
}

/// Reads the same columns again and again.
void ReadOften(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  double sum = 0;
  for (int i = 0; i < 20; ++i) {
    auto x = events.Sum<double>("x");
    auto y = events.Sum<double>("y");
    auto v = events.Sum<ROOT::RVecF>("v");
    sum += *x + *y + *v;
  }
  std::cout << "sum " << sum << std::endl;
}

/// The process is interrupted as by Ctrl-C, at the given entry of the second file.
void Interrupted(const Files& files) {
  std::signal(SIGINT, SIG_DFL);
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  std::atomic<long> entries{0};
  auto stop = [&entries](double) {
    if (++entries == 55'000) std::raise(SIGINT);
    return true;
  };
  std::cout << *events.Filter(stop, {"x"}).Count() << std::endl;
}

const std::map<std::string, std::function<void(const Files&)>> kCases = {
    {"one_loop", OneLoop},
    {"slow_loop", SlowLoop},
    {"columns", Columns},
    {"several_loops", SeveralLoops},
    {"several_frames", SeveralFrames},
    {"two_frames_of_the_same_files", TwoFramesOfTheSameFiles},
    {"filtered_node", FilteredNode},
    {"samples", Samples},
    {"global_range", GlobalRange},
    {"chain", Chain},
    {"tree", Tree},
    {"small_chunks", SmallChunks},
    {"empty_source", EmptySource},
    {"entry_list", EntryList},
    {"csv", Csv},
    {"range", Range},
    {"throw", Throw},
    {"throw_timed", ThrowTimed},
    {"timed", Timed},
    {"branches", Branches},
    {"cut_flow", CutFlow},
    {"caught", Caught},
    {"compiled", Compiled},
    {"compiled_together", CompiledTogether},
    {"logged", Logged},
    {"frame_ends_first", FrameEndsFirst},
    {"handle_ends_first", HandleEndsFirst},
    {"node_ends_first", NodeEndsFirst},
    {"never_run", NeverRun},
    {"friends", Friends},
    {"indexed_friend", IndexedFriend},
    {"many_files", ManyFiles},
    {"busy", Busy},
    {"read_often", ReadOften},
    {"varied", Varied},
    {"interrupted", Interrupted},
};

}  // namespace

int main(int count, char** arguments) {
  const int threads = std::atoi(arguments[2]);
  if (threads > 0) ROOT::EnableImplicitMT(static_cast<unsigned>(threads));
  kCases.at(arguments[1])(Files(arguments + 3, arguments + count));
}
