// Loops over TTreeReader, TTreeProcessorMT, RNTupleReader and a plain TTree, with crema: readers CASE FILE...
#include <TChain.h>
#include <TEntryList.h>
#include <TError.h>
#include <TFile.h>
#include <TROOT.h>
#include <TTreePerfStats.h>
#include <TTreeReader.h>
#include <TTreeReaderValue.h>
#include <TVirtualPerfStats.h>

#include <ROOT/RNTupleReader.hxx>
#include <ROOT/TTreeProcessorMT.hxx>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "crema/root.h"
#include "entry_list.h"

namespace {

using Files = std::vector<std::string>;

std::unique_ptr<TFile> Open(const std::string& path) { return std::unique_ptr<TFile>(TFile::Open(path.c_str())); }

/// What ROOT counted in the file since `before`, as one line of JSON.
void PrintRead(const TFile& file, Long64_t before, int calls_before) {
  std::printf("{\"sample\":\"%s/Events\",\"bytes\":%lld,\"calls\":%d}\n", file.GetName(), file.GetBytesRead() - before,
              file.GetReadCalls() - calls_before);
}

void Reader(const Files& files) {
  const auto file = Open(files[0]);
  TTreeReader reader("Events", file.get());
  TTreeReaderValue<double> x(reader, "x");
  const Long64_t before = file->GetBytesRead();
  const int calls_before = file->GetReadCalls();
  double sum = 0;
  {
    crema::TrackReader chunk(reader, {"ttbar"});
    while (reader.Next()) sum += *x;
  }
  PrintRead(*file, before, calls_before);
  std::printf("sum %g\n", sum);
}

void ReaderOfARange(const Files& files) {
  const auto file = Open(files[0]);
  TTreeReader reader("Events", file.get());
  for (const Long64_t first : {0, 20'000, 40'000}) {
    reader.SetEntriesRange(first, first + 20'000);
    crema::TrackReader chunk(reader, {"ttbar"});
    while (reader.Next()) {
    }
  }
}

void ReaderOfAChain(const Files& files) {
  TChain chain("Events");
  for (const std::string& file : files) chain.Add(file.c_str());
  TTreeReader reader(&chain);
  TTreeReaderValue<double> x(reader, "x");
  crema::TrackReader chunk(reader, {"ttbar"});
  double sum = 0;
  while (reader.Next()) sum += *x;
  std::printf("sum %g\n", sum);
}

void ReaderLeftEarly(const Files& files) {
  const auto file = Open(files[0]);
  TTreeReader reader("Events", file.get());
  crema::TrackReader chunk(reader, {"ttbar"});
  for (int i = 0; i < 100; ++i) reader.Next();
}

void ReaderNeverUsed(const Files& files) {
  const auto file = Open(files[0]);
  TTreeReader reader("Events", file.get());
  crema::TrackReader chunk(reader, {"ttbar"});
}

void ReaderOfAMissingColumn(const Files& files) {
  const auto file = Open(files[0]);
  TTreeReader reader("Events", file.get());
  TTreeReaderValue<double> none(reader, "no_such_column");
  crema::TrackReader chunk(reader, {"ttbar"});
  long entries = 0;
  while (reader.Next()) ++entries;
  std::printf("entries %ld\n", entries);
}

void ReaderThatThrows(const Files& files) {
  const auto file = Open(files[0]);
  TTreeReader reader("Events", file.get());
  try {
    crema::TrackReader chunk(reader, {"ttbar"});
    while (reader.Next()) {
      if (reader.GetCurrentEntry() == 999) throw std::runtime_error("no such jet");
    }
  } catch (const std::runtime_error& error) {
    std::printf("caught %s\n", error.what());
  }
}

/// The program's own statistics go on beside crema's.
void OwnStatistics(const Files& files) {
  const auto file = Open(files[0]);
  auto* tree = file->Get<TTree>("Events");
  TTreePerfStats own("io", tree);
  TTreeReader reader(tree);
  TTreeReaderValue<double> x(reader, "x");
  double sum = 0;
  {
    crema::TrackReader chunk(reader, {"ttbar"});
    while (reader.Next()) sum += *x;
  }
  std::printf("{\"sample\":\"%s/Events\",\"bytes\":%lld,\"calls\":%d,\"read_wall\":%.9f,\"unzip_wall\":%.9f}\n",
              files[0].c_str(), own.GetBytesRead(), own.GetReadCalls(), own.GetDiskTime(), own.GetUnzipTime());
  std::printf("sum %g stays %d\n", sum, tree->GetPerfStats() == &own && gPerfStats == &own);
}

void Processor(const Files& files) {
  ROOT::EnableImplicitMT(2);
  const std::vector<std::string_view> names(files.begin(), files.end());
  ROOT::TTreeProcessorMT processor(names, "Events", 2);
  std::atomic<long> entries{0};
  processor.Process([&entries](TTreeReader& reader) {
    TTreeReaderValue<double> x(reader, "x");
    crema::TrackReader chunk(reader, {"ttbar"});
    while (reader.Next()) entries += *x > -100 ? 1 : 0;
  });
  std::printf("entries %ld\n", entries.load());
}

/// The first 1000 entries of every file that 7 divides.
void EntryList(const Files& files) {
  TChain chain("Events");
  TEntryList list("list", "list");
  ChooseEntries(files, &chain, &list);
  TTreeReader reader(&chain, &list);
  TTreeReaderValue<double> x(reader, "x");
  crema::TrackReader chunk(reader, {"ttbar"});
  double sum = 0;
  while (reader.Next()) sum += *x;
  std::printf("sum %g\n", sum);
}

void Draw(const Files& files) {
  const auto file = Open(files[0]);
  auto* tree = file->Get<TTree>("Events");
  for (auto& chunk : crema::Chunks(tree, tree->GetEntries(), {"ttbar"})) {
    tree->Draw("x", "y > 1", "goff", chunk.last() - chunk.first(), chunk.first());
    chunk.SetEvents(chunk.last() - chunk.first());
  }
  std::printf("{\"sample\":\"%s/Events\",\"bytes\":%lld}\n", files[0].c_str(), file->GetBytesRead());
}

void Ntuple(const Files& files) {
  auto reader = ROOT::RNTupleReader::Open("Events", files[0]);
  auto x = reader->GetView<double>("x");
  double sum = 0;
  {
    crema::TrackNtuple chunk(*reader, {"ttbar", files[0]});
    for (const auto entry : chunk) sum += x(entry);
  }
  const auto value = [&](const std::string& name) {
    return static_cast<long>(reader->GetMetrics().GetCounter("RNTupleReader.RPageSourceFile." + name)->GetValueAsInt());
  };
  std::printf("{\"sample\":\"%s/Events\",\"bytes\":%ld,\"calls\":%ld,\"unzip\":%ld,\"read_ns\":%ld,\"unzip_ns\":%ld}\n",
              files[0].c_str(), value("szReadPayload"), value("nReadV"), value("szUnzip"), value("timeWallRead"),
              value("timeWallUnzip"));
  std::printf("sum %g\n", sum);
}

/// What the pages of x and y take in the file, and in memory, by its description.
void NtupleSizes(const Files& files) {
  for (const std::string& file : files) {
    const auto reader = ROOT::RNTupleReader::Open("Events", file);
    const auto& description = reader->GetDescriptor();
    unsigned long stored = 0;
    unsigned long elements = 0;
    for (const char* name : {"x", "y"}) {
      const auto column = description.FindPhysicalColumnId(description.FindFieldId(name), 0, 0);
      for (const auto& cluster : description.GetClusterIterable()) {
        for (const auto& page : cluster.GetPageRange(column).GetPageInfos()) {
          stored += page.GetLocator().GetNBytesOnStorage() + (page.HasChecksum() ? sizeof(std::uint64_t) : 0);
          elements += page.GetNElements();
        }
      }
    }
    std::printf("{\"sample\":\"%s/Events\",\"stored\":%lu,\"bytes\":%lu}\n", file.c_str(), stored,
                elements * sizeof(double));
  }
}

/// Three chunks of one reader: a range that ends, one that is left, one of whose events only the program knows.
void NtupleOfParts(const Files& files) {
  auto reader = ROOT::RNTupleReader::Open("Events", files[0]);
  auto x = reader->GetView<double>("x");
  double sum = 0;
  {
    crema::TrackNtuple chunk(*reader, {"ttbar", files[0], 0, 20'000});
    for (const auto entry : chunk) sum += x(entry);
  }
  {
    crema::TrackNtuple chunk(*reader, {"ttbar", files[0], 20'000, 40'000});
    for (const auto entry : chunk) {
      if (entry == 20'100) break;
      sum += x(entry);
    }
  }
  {
    crema::TrackNtuple chunk(*reader, {"ttbar", files[0], 40'000, reader->GetNEntries()});
    for (std::uint64_t entry = 40'000; entry < reader->GetNEntries(); ++entry) sum += x(entry);
    chunk.SetEvents(reader->GetNEntries() - 40'000);
  }
  std::printf("sum %g\n", sum);
}

void NtupleNotTold(const Files& files) {
  auto reader = ROOT::RNTupleReader::Open("Events", files[0]);
  auto x = reader->GetView<double>("x");
  crema::TrackNtuple chunk(*reader, {"ttbar", files[0]});
  for (const auto entry : reader->GetEntryRange()) {
    if (x(entry) > 3) break;
  }
}

void NtupleThatThrows(const Files& files) {
  auto reader = ROOT::RNTupleReader::Open("Events", files[0]);
  try {
    crema::TrackNtuple chunk(*reader, {"ttbar", files[0]});
    for (const auto entry : chunk) {
      if (entry == 999) throw std::runtime_error("no such jet");
    }
  } catch (const std::runtime_error& error) {
    std::printf("caught %s\n", error.what());
  }
}

void PlainLoop(const Files& files, std::int64_t entries) {
  TChain chain("Events");
  for (const std::string& file : files) chain.Add(file.c_str());
  double x = 0;
  chain.SetBranchAddress("x", &x);
  double sum = 0;
  for (auto& chunk : crema::Chunks(&chain, entries, {"ttbar"})) {
    for (const auto entry : chunk) {
      chain.GetEntry(entry);
      sum += x;
    }
  }
  std::printf("sum %g\n", sum);
}

void ReaderInChunks(const Files& files) {
  TChain chain("Events");
  for (const std::string& file : files) chain.Add(file.c_str());
  TTreeReader reader(&chain);
  TTreeReaderValue<double> x(reader, "x");
  double sum = 0;
  for (auto& chunk : crema::Chunks(&chain, 15'000, {"ttbar"})) {
    for (const auto entry : chunk) {
      reader.SetEntry(entry);
      sum += *x;
    }
  }
  std::printf("sum %g\n", sum);
}

void ChunksLeftEarly(const Files& files) {
  TChain chain("Events");
  for (const std::string& file : files) chain.Add(file.c_str());
  int chunks = 0;
  for (auto& chunk : crema::Chunks(&chain, 15'000, {"ttbar"})) {
    for (const auto entry : chunk) {
      if (entry == chunk.first() + 100) break;
      chain.GetEntry(entry);
    }
    if (++chunks == 2) break;
  }
}

void ChunksThatThrow(const Files& files) {
  const auto file = Open(files[0]);
  auto* tree = file->Get<TTree>("Events");
  try {
    for (auto& chunk : crema::Chunks(tree, 15'000, {"ttbar"})) {
      for (const auto entry : chunk) {
        if (entry == 15'999) throw std::runtime_error("no such jet");
      }
    }
  } catch (const std::runtime_error& error) {
    std::printf("caught %s\n", error.what());
  }
}

/// ROOT reads the branches of an entry on two threads.
void ChunksOnThreads(const Files& files) {
  ROOT::EnableImplicitMT(2);
  const auto file = Open(files[0]);
  auto* tree = file->Get<TTree>("Events");
  const Long64_t before = file->GetBytesRead();
  const int calls_before = file->GetReadCalls();
  for (auto& chunk : crema::Chunks(tree, tree->GetEntries(), {"ttbar"})) {
    for (const auto entry : chunk) tree->GetEntry(entry);
  }
  PrintRead(*file, before, calls_before);
}

/// Whether ROOT is as it was without the guards, inside of them.
void Hooks(const Files& files) {
  const auto say = [](const char* guard) {
    const bool is_bare = gPerfStats == nullptr && GetErrorHandler() == DefaultErrorHandler;
    std::printf("%s %s\n", guard, is_bare ? "bare" : "hooked");
  };
  const auto file = Open(files[0]);
  auto* tree = file->Get<TTree>("Events");
  for (auto& chunk : crema::Chunks(tree, tree->GetEntries(), {"ttbar"})) say(chunk.last() > 0 ? "Chunks" : "none");
  say("behind");
  TTreeReader reader("Events", file.get());
  crema::TrackReader chunk(reader, {"ttbar"});
  reader.Next();
  say("TrackReader");
}

const std::map<std::string, std::function<void(const Files&)>> kCases = {
    {"reader", Reader},
    {"reader_of_a_range", ReaderOfARange},
    {"reader_of_a_chain", ReaderOfAChain},
    {"reader_left_early", ReaderLeftEarly},
    {"reader_never_used", ReaderNeverUsed},
    {"reader_of_a_missing_column", ReaderOfAMissingColumn},
    {"reader_that_throws", ReaderThatThrows},
    {"own_statistics", OwnStatistics},
    {"processor", Processor},
    {"entry_list", EntryList},
    {"draw", Draw},
    {"ntuple", Ntuple},
    {"ntuple_sizes", NtupleSizes},
    {"ntuple_of_parts", NtupleOfParts},
    {"ntuple_not_told", NtupleNotTold},
    {"ntuple_that_throws", NtupleThatThrows},
    {"clusters", [](const Files& files) { PlainLoop(files, 0); }},
    {"plain_loop", [](const Files& files) { PlainLoop(files, 15'000); }},
    {"reader_in_chunks", ReaderInChunks},
    {"chunks_left_early", ChunksLeftEarly},
    {"chunks_that_throw", ChunksThatThrow},
    {"chunks_on_threads", ChunksOnThreads},
    {"hooks", Hooks},
};

}  // namespace

int main(int count, char** arguments) { kCases.at(arguments[1])(Files(arguments + 2, arguments + count)); }
