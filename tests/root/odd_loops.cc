// Event loops that are difficult for the guards, and loops that write: odd_loops CASE THREADS FILE...
#include <TFile.h>
#include <TList.h>
#include <TROOT.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderValue.h>
#include <TVirtualMonitoring.h>
#include <TVirtualPerfStats.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ROOT/RDFHelpers.hxx>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RSnapshotOptions.hxx>
#include <ROOT/TTreeProcessorMT.hxx>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "crema/root.h"

namespace {

using Files = std::vector<std::string>;
using Handle = crema::TrackedDataFrame;

/// Calls `action` at one entry of the loop, whichever thread reads it.
std::function<bool(double)> AtEntry(long number, std::function<void()> action) {
  auto entries = std::make_shared<std::atomic<long>>(0);
  return [entries, number, action = std::move(action)](double) {
    if (++*entries == number) action();
    return true;
  };
}

void PrintCount(ROOT::RDF::RNode node, std::function<bool(double)> filter) {
  try {
    std::cout << "count " << *node.Filter(std::move(filter), {"x"}).Count() << std::endl;
  } catch (const std::exception& error) {
    std::cout << "caught " << error.what() << std::endl;
  }
}

/// Bytes that the process gave to write(2) and similar calls.
long BytesGivenToWrite() {
  std::ifstream io("/proc/self/io");
  std::string name;
  for (long value = 0; io >> name >> value;) {
    if (name == "wchar:") return value;
  }
  return -1;
}

/// files: the output, its format, and what is read.
ROOT::RDF::RResultPtr<ROOT::RDF::RInterface<ROOT::Detail::RDF::RLoopManager>> BookSnapshot(ROOT::RDF::RNode node,
                                                                                           const Files& files) {
  ROOT::RDF::RSnapshotOptions options;
  options.fLazy = true;
  options.fOutputFormat =
      files[1] == "ntuple" ? ROOT::RDF::ESnapshotOutputFormat::kRNTuple : ROOT::RDF::ESnapshotOutputFormat::kTTree;
  return node.Snapshot("Events", files[0], {"x", "y", "v"}, options);
}

void Snapshot(const Files& files) {
  ROOT::RDataFrame events("Events", Files(files.begin() + 2, files.end()));
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  const TVirtualMonitoringWriter* const writer = gMonitoringWriter;
  auto skim = BookSnapshot(events, files);
  const long before = BytesGivenToWrite();
  skim.GetValue();
  std::cout << "{\"sample\":\"" << files[0] << "/Events\",\"written\":" << BytesGivenToWrite() - before << "}\n";
  std::cout << "writer stays " << (gMonitoringWriter == writer) << std::endl;
}

/// Two at once, and one more in a later loop.
void Snapshots(const Files& files) {
  const Files inputs(files.begin() + 2, files.end());
  ROOT::RDataFrame first("Events", inputs);
  ROOT::RDataFrame second("Events", inputs);
  auto tracked_first = crema::TrackDataFrame(first, {"ttbar"});
  auto tracked_second = crema::TrackDataFrame(second, {"zjets"});
  const long before = BytesGivenToWrite();
  ROOT::RDF::RunGraphs(
      {BookSnapshot(first, {files[0] + ".first", files[1]}), BookSnapshot(second, {files[0] + ".second", files[1]})});
  BookSnapshot(first, files).GetValue();
  std::cout << "{\"sample\":\"" << files[0] << "/Events\",\"written\":" << BytesGivenToWrite() - before << "}\n";
}

/// What the columns take in each file.
void Columns(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto x = events.Sum<double>("x");
  auto v = events.Sum<ROOT::RVecF>("v");
  std::cout << "sum " << *x + *v << std::endl;
  for (const std::string& path : files) {
    const std::unique_ptr<TFile> file(TFile::Open(path.c_str()));
    auto* tree = file->Get<TTree>("Events");
    std::cout << "{\"sample\":\"" << path << "/Events\",\"x\":" << tree->GetBranch("x")->GetZipBytes()
              << ",\"v\":" << tree->GetBranch("v")->GetZipBytes() << "}\n";
  }
}

void ThrowInASample(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  auto weighted = events.DefinePerSample("w", [](unsigned, const ROOT::RDF::RSampleInfo& sample) -> double {
    if (sample.AsString().find("1.root") != std::string::npos) throw std::runtime_error("no such sample");
    return 1;
  });
  try {
    std::cout << "sum " << *weighted.Sum<double>("w") << std::endl;
  } catch (const std::exception& error) {
    std::cout << "caught " << error.what() << std::endl;
  }
}

/// The handle ends while its loop runs.
void HandleEndsInside(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = std::make_unique<Handle>(crema::TrackDataFrame(events, {"ttbar"}));
  PrintCount(events, AtEntry(30'000, [&tracked] { tracked.reset(); }));
  PrintCount(events, AtEntry(1, [] {}));
}

void MovedHandles(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  std::vector<Handle> handles;
  handles.push_back(crema::TrackDataFrame(events, {"ttbar"}));
  for (int i = 0; i < 10; ++i) handles.emplace_back();  // moves when it grows
  Handle moved(std::move(handles[0]));
  handles.clear();
  PrintCount(events, AtEntry(1, [] {}));
  Handle& same = moved;
  moved = std::move(same);
  PrintCount(events, AtEntry(1, [] {}));
}

/// Ends when ROOT is being torn down.
Handle& KeptUntilTheEnd() {
  static Handle handle;
  return handle;
}

void StaticHandle(const Files& files) {
  KeptUntilTheEnd();
  ROOT::RDataFrame events("Events", files);
  KeptUntilTheEnd() = crema::TrackDataFrame(events, {"ttbar"});
  PrintCount(events, AtEntry(1, [] {}));
}

/// A child is made inside the loop, and ends by itself after a loop of its own.
void ForkInside(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  PrintCount(events, AtEntry(30'000, [&files] {
               const pid_t child = fork();
               if (child == 0) {
                 ROOT::RDataFrame own("Events", files[2]);
                 auto tracked_own = crema::TrackDataFrame(own, {"child"});
                 std::_Exit(*own.Count() == 70'000 ? 0 : 1);
               }
               int status = -1;
               waitpid(child, &status, 0);
               std::cout << "child " << status << std::endl;
             }));
}

/// Each thread has a frame of its own, without implicit multi-threading.
void FramesOfTwoThreads(const Files& files) {
  ROOT::EnableThreadSafety();
  std::vector<std::thread> threads;
  std::atomic<unsigned long long> count{0};
  std::vector<Handle> handles(2);
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&files, &count, &handles, i] {
      ROOT::RDataFrame events("Events", files);
      handles[i] = crema::TrackDataFrame(events, {i == 0 ? "first" : "second"});
      count += *events.Filter([](double x) { return x > -100; }, {"x"}).Count();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << "count " << count << std::endl;  // the threads have ended; their handles have not
}

/// The program's own statistics, set and put back in the middle of a task.
void OwnStatisticsInside(const Files& files) {
  struct Own : TVirtualPerfStats {
    long reads = 0;
    void SimpleEvent(EEventType) override {}
    void PacketEvent(const char*, const char*, const char*, Long64_t, Double_t, Double_t, Double_t, Long64_t) override {
    }
    void FileEvent(const char*, const char*, const char*, const char*, Bool_t) override {}
    void FileOpenEvent(TFile*, const char*, Double_t) override {}
    void FileReadEvent(TFile*, Int_t, Double_t) override { ++reads; }
    void UnzipEvent(TObject*, Long64_t, Double_t, Int_t, Int_t) override {}
    void RateEvent(Double_t, Double_t, Long64_t, Long64_t) override {}
    void SetBytesRead(Long64_t) override {}
    Long64_t GetBytesRead() const override { return 0; }
    void SetNumEvents(Long64_t) override {}
    Long64_t GetNumEvents() const override { return 0; }
    void PrintBasketInfo(Option_t*) const override {}
    void SetLoaded(TBranch*, size_t) override {}
    void SetLoaded(size_t, size_t) override {}
    void SetLoadedMiss(TBranch*, size_t) override {}
    void SetLoadedMiss(size_t, size_t) override {}
    void SetMissed(TBranch*, size_t) override {}
    void SetMissed(size_t, size_t) override {}
    void SetUsed(TBranch*, size_t) override {}
    void SetUsed(size_t, size_t) override {}
    void UpdateBranchIndices(TObjArray*) override {}
    void SetFile(TFile*) override {}
  };
  Own own;
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  PrintCount(events, AtEntry(20'000, [&own] { gPerfStats = &own; }));  // never put back
  std::cout << "stays " << (gPerfStats == &own) << std::endl;
  PrintCount(events, AtEntry(1, [] {}));
  std::cout << "stays " << (gPerfStats == &own) << " reads " << (own.reads > 0) << std::endl;
  gPerfStats = nullptr;
}

/// Implicit multi-threading is switched between the frame and its loops.
void ThreadsSwitched(const Files& files) {
  const bool is_on = ROOT::IsImplicitMTEnabled();
  const auto change = [](bool on) { on ? ROOT::EnableImplicitMT(2) : ROOT::DisableImplicitMT(); };
  ROOT::RDataFrame events("Events", files);
  change(!is_on);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  PrintCount(events, AtEntry(1, [] {}));
  change(is_on);
  PrintCount(events, AtEntry(1, [] {}));
}

/// A node runs a loop of a frame of its own.
void FrameInsideANode(const Files& files) {
  ROOT::RDataFrame events("Events", Files{files[0], files[1]});
  auto tracked = crema::TrackDataFrame(events, {"outer"});
  PrintCount(events, AtEntry(20'000, [&files] {
               ROOT::RDataFrame inner("Events", files[2]);
               auto tracked_inner = crema::TrackDataFrame(inner, {"inner"});
               PrintCount(inner, AtEntry(1, [] {}));
             }));
}

/// A node reads other files, and closes them.
void FilesInsideANode(const Files& files) {
  ROOT::RDataFrame events("Events", Files{files[0], files[1]});
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  PrintCount(events, AtEntry(20'000, [&files] {
               for (int i = 0; i < 3; ++i) {
                 const std::unique_ptr<TFile> file(TFile::Open(files[2].c_str()));
                 std::cout << "keys " << file->GetListOfKeys()->GetSize() << std::endl;
               }
             }));
}

/// As in a notebook whose cell runs again: the last name counts, for the loops that begin then.
void TrackedTwice(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"first"});
  PrintCount(events, AtEntry(1, [] {}));
  auto again = crema::TrackDataFrame(events.Filter([](double x) { return x > 0; }, {"x"}), {"second"});
  PrintCount(events, AtEntry(1, [] {}));
  tracked = Handle();
  PrintCount(events, AtEntry(1, [] {}));
  again = Handle();
  PrintCount(events, AtEntry(1, [] {}));
}

/// Recording goes off in one loop and on in the next.
void RecordingSwitched(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  const bool is_recorded = crema::Enabled();
  PrintCount(events, AtEntry(30'000, [] { crema::Disable(); }));
  PrintCount(events, AtEntry(30'000, [is_recorded] {
               if (is_recorded) crema::Enable({});
             }));
  PrintCount(events, AtEntry(1, [] {}));
}

/// The process ends inside the loop, with its destructors: as a handler of Ctrl-C may do.
void ExitInside(const Files& files) {
  ROOT::RDataFrame events("Events", files);
  auto tracked = crema::TrackDataFrame(events, {"ttbar"});
  PrintCount(events, AtEntry(30'000, [] { std::exit(7); }));
}

/// A reader that stops, is set to another range, and goes on; and two of which the first ends first.
void ReadersOutOfOrder(const Files& files) {
  const std::unique_ptr<TFile> file(TFile::Open(files[0].c_str()));
  const std::unique_ptr<TFile> other(TFile::Open(files[1].c_str()));
  TTreeReader reader("Events", file.get());
  TTreeReader second("Events", other.get());
  TTreeReaderValue<double> x(reader, "x");
  TTreeReaderValue<double> y(second, "y");
  double sum = 0;
  {
    std::optional<crema::TrackReader> chunk(std::in_place, reader, crema::Chunk("first"));
    std::optional<crema::TrackReader> later(std::in_place, second, crema::Chunk("second"));
    for (int i = 0; i < 30'000; ++i) {
      reader.Next();
      sum += *x;
    }
    chunk.reset();
    while (second.Next()) sum += *y;
  }
  for (const auto& tree : {reader.GetTree(), second.GetTree()}) {
    std::cout << "bare " << (gPerfStats == nullptr && tree->GetPerfStats() == nullptr) << std::endl;
  }
  reader.SetEntriesRange(30'000, 50'000);
  crema::TrackReader chunk(reader, {"first"});
  while (reader.Next()) sum += *x;
  std::cout << "sum " << sum << std::endl;
}

/// ROOT reads branches on two threads beside the reader.
void EntriesBesideAReader(const Files& files) {
  const std::unique_ptr<TFile> file(TFile::Open(files[0].c_str()));
  TTreeReader reader("Events", file.get());
  TTreeReaderValue<double> x(reader, "x");
  crema::TrackReader chunk(reader, {"ttbar"});
  double sum = 0;
  while (reader.Next()) {
    reader.GetTree()->GetEntry(reader.GetCurrentEntry());
    sum += *x;
  }
  std::cout << "sum " << sum << std::endl;
}

/// Some tasks of a processor throw.
void ProcessorThatThrows(const Files& files) {
  const std::vector<std::string_view> names(files.begin(), files.end());
  ROOT::TTreeProcessorMT processor(names, "Events", 2);
  try {
    processor.Process([](TTreeReader& reader) {
      TTreeReaderValue<double> x(reader, "x");
      crema::TrackReader chunk(reader, {"ttbar"});
      while (reader.Next()) {
        if (*x > 3.9) throw std::runtime_error("no such jet");
      }
    });
    std::cout << "done" << std::endl;
  } catch (const std::exception& error) {
    std::cout << "caught " << error.what() << std::endl;
  }
}

const std::map<std::string, std::function<void(const Files&)>> kCases = {
    {"snapshot", Snapshot},
    {"snapshots", Snapshots},
    {"columns", Columns},
    {"throw_in_a_sample", ThrowInASample},
    {"handle_ends_inside", HandleEndsInside},
    {"moved_handles", MovedHandles},
    {"static_handle", StaticHandle},
    {"fork_inside", ForkInside},
    {"frames_of_two_threads", FramesOfTwoThreads},
    {"own_statistics_inside", OwnStatisticsInside},
    {"threads_switched", ThreadsSwitched},
    {"frame_inside_a_node", FrameInsideANode},
    {"files_inside_a_node", FilesInsideANode},
    {"tracked_twice", TrackedTwice},
    {"recording_switched", RecordingSwitched},
    {"exit_inside", ExitInside},
    {"readers_out_of_order", ReadersOutOfOrder},
    {"entries_beside_a_reader", EntriesBesideAReader},
    {"processor_that_throws", ProcessorThatThrows},
};

}  // namespace

int main(int count, char** arguments) {
  const int threads = std::atoi(arguments[2]);
  if (threads > 0) ROOT::EnableImplicitMT(static_cast<unsigned>(threads));
  kCases.at(arguments[1])(Files(arguments + 3, arguments + count));
}
