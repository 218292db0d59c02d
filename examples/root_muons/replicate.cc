// Writes larger files from the real events of two small ones: as TTree and as RNTuple, in four compressions.
//
//   replicate FOLDER [EVENTS [ENTRIES_PER_CLUSTER]]     default: 250000 20000
//
// Run it from the top of the checkout. A file that is there stays.
#include <Compression.h>

#include <ROOT/RDFHelpers.hxx>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RSnapshotOptions.hxx>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "sample.h"

namespace {

using Algorithm = ROOT::RCompressionSetting::EAlgorithm;
using Format = ROOT::RDF::ESnapshotOutputFormat;
using root_muons::Event;

struct Compression {
  const char* name;
  Algorithm::EValues algorithm;
  int level;  ///< ROOT's default of the algorithm
};
constexpr Compression kCompressions[] = {{"none", Algorithm::kUseGlobal, 0},
                                         {"lz4", Algorithm::kLZ4, 4},
                                         {"zstd", Algorithm::kZSTD, 5},
                                         {"lzma", Algorithm::kLZMA, 7}};

void Write(const std::vector<Event>& sample, const std::string& path, long events, int cluster_entries, Format format,
           const Compression& compression) {
  ROOT::RDF::RSnapshotOptions options;
  options.fOutputFormat = format;
  options.fCompressionAlgorithm = compression.algorithm;
  options.fCompressionLevel = compression.level;
  if (format == Format::kTTree) {
    options.fAutoFlush = cluster_entries;
  } else {
    constexpr std::size_t kBytesOfEvent = 40;  // RNTuple cuts clusters by bytes: about as many entries
    options.fApproxZippedClusterSize = kBytesOfEvent * static_cast<std::size_t>(cluster_entries);
    options.fMaxUnzippedClusterSize = 10 * options.fApproxZippedClusterSize;
    options.fMaxUnzippedPageSize = std::min(options.fMaxUnzippedPageSize, options.fMaxUnzippedClusterSize);
  }
  const auto turn = [&sample](ULong64_t entry) { return Turned(sample[entry % sample.size()], entry); };
  const std::string unfinished = path + ".part";
  ROOT::RDataFrame(static_cast<ULong64_t>(events))
      .Define("event", turn, {"rdfentry_"})
      .Define("Muon_pt", [](const Event& event) { return event.pt; }, {"event"})
      .Define("Muon_eta", [](const Event& event) { return event.eta; }, {"event"})
      .Define("Muon_phi", [](const Event& event) { return event.phi; }, {"event"})
      .Define("Muon_mass", [](const Event& event) { return event.mass; }, {"event"})
      .Define("Muon_pfRelIso04_all", [](const Event& event) { return event.isolation; }, {"event"})
      .Define("Muon_charge", [](const Event& event) { return event.charge; }, {"event"})
      .Define("MET_pt", [](const Event& event) { return event.met_pt; }, {"event"})
      .Define("MET_phi", [](const Event& event) { return event.met_phi; }, {"event"})
      .Define("weight", [](const Event& event) { return event.weight; }, {"event"})
      .Snapshot("Events", unfinished,
                {"Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_pfRelIso04_all", "Muon_charge", "MET_pt",
                 "MET_phi", "weight"},
                options);
  std::filesystem::rename(unfinished, path);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    std::fprintf(stderr, "usage: replicate FOLDER [EVENTS [ENTRIES_PER_CLUSTER]]\n");
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const long events = count > 2 ? std::atol(arguments[2]) : 250'000;
  const int cluster_entries = count > 3 ? std::atoi(arguments[3]) : 20'000;
  std::vector<Event> sample = root_muons::ReadHzz("examples/data/uproot-HZZ-zlib.root");
  for (Event& event : root_muons::ReadNanoAod("tests/data/nanoAOD_2015_CMS_Open_Data_ttbar.root")) {
    sample.push_back(std::move(event));
  }
  std::filesystem::create_directories(folder);
  for (const auto& [format, name] : {std::pair(Format::kTTree, "ttree"), std::pair(Format::kRNTuple, "rntuple")}) {
    for (const Compression& compression : kCompressions) {
      const std::string path = folder / (std::string(name) + "_" + compression.name + ".root");
      if (std::filesystem::exists(path)) continue;
      Write(sample, path, events, cluster_entries, format, compression);
      std::printf("%s: %.1f MB\n", path.c_str(), static_cast<double>(std::filesystem::file_size(path)) / 1e6);
    }
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "replicate: %s\n", error.what());
  return 1;
}
