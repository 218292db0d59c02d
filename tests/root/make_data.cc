// Writes the files that the tests of ROOT read: make_data FOLDER.
#include <Compression.h>
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <ROOT/RDFHelpers.hxx>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RSnapshotOptions.hxx>
#include <string>
#include <vector>

namespace {

constexpr int kClusterEntries = 20'000;

/// Columns number, x, y and v, of which no two files have the same values.
ROOT::RDF::RNode Invent(int entries, int seed) {
  gRandom->SetSeed(seed);
  return ROOT::RDataFrame(entries)
      .Define("number", [](ULong64_t entry) { return static_cast<int>(entry); }, {"rdfentry_"})
      .Define("x", [] { return gRandom->Gaus(); })
      .Define("y", [](double x) { return x * x; }, {"x"})
      .Define("v", [] {
        std::vector<float> values(gRandom->Poisson(5));
        for (float& value : values) value = static_cast<float>(gRandom->Rndm());
        return values;
      });
}

void Write(const std::string& path, int entries, int seed, ROOT::RDF::ESnapshotOutputFormat format,
           const std::vector<std::string>& columns = {"x", "y", "v", "number"},
           ROOT::RDF::RSnapshotOptions options = {}) {
  options.fOutputFormat = format;
  if (format == ROOT::RDF::ESnapshotOutputFormat::kTTree) {
    options.fAutoFlush = kClusterEntries;
  } else {
    options.fApproxZippedClusterSize = 500'000;
  }
  Invent(entries, seed).Snapshot("Events", path, columns, options);
}

void WriteCompressed(const std::string& path, ROOT::RCompressionSetting::EAlgorithm::EValues algorithm,
                     ROOT::RDF::ESnapshotOutputFormat format = ROOT::RDF::ESnapshotOutputFormat::kTTree) {
  ROOT::RDF::RSnapshotOptions options;
  options.fCompressionAlgorithm = algorithm;
  options.fCompressionLevel = 4;
  Write(path, 60'000, 8, format, {"x", "y", "v"}, options);
}

/// Columns c0, c1, ... of random numbers.
void WriteColumns(const std::string& path, int columns, int entries, int cluster) {
  TFile file(path.c_str(), "RECREATE");
  TTree tree("Events", "many columns");
  tree.SetAutoFlush(cluster);
  std::vector<float> values(columns);
  for (int i = 0; i < columns; ++i) tree.Branch(("c" + std::to_string(i)).c_str(), &values[i]);
  gRandom->SetSeed(10);
  for (int entry = 0; entry < entries; ++entry) {
    for (float& value : values) value = static_cast<float>(gRandom->Rndm());
    tree.Fill();
  }
  tree.Write();
}

/// A tree that has every second entry of the others, found by its index.
void WriteIndexedFriend(const std::string& path) {
  TFile file(path.c_str(), "RECREATE");
  TTree tree("Other", "every second entry");
  int number = 0;
  float weight = 1;
  tree.Branch("number", &number);
  tree.Branch("weight", &weight);
  for (number = 0; number < 1000; number += 2) tree.Fill();
  tree.BuildIndex("number");
  tree.Write();
}

}  // namespace

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  constexpr auto kTree = ROOT::RDF::ESnapshotOutputFormat::kTTree;
  constexpr auto kNtuple = ROOT::RDF::ESnapshotOutputFormat::kRNTuple;
  for (int i = 0; i < 3; ++i) {
    const int entries = 50'000 + 10'000 * i;
    Write(folder + "/tree" + std::to_string(i) + ".root", entries, i + 1, kTree);
    Write(folder + "/ntuple" + std::to_string(i) + ".root", entries, i + 1, kNtuple);
  }
  WriteCompressed(folder + "/lzma.root", ROOT::RCompressionSetting::EAlgorithm::kLZMA);
  WriteCompressed(folder + "/lz4.root", ROOT::RCompressionSetting::EAlgorithm::kLZ4);
  WriteCompressed(folder + "/zstd.root", ROOT::RCompressionSetting::EAlgorithm::kZSTD);
  WriteCompressed(folder + "/lzma_ntuple.root", ROOT::RCompressionSetting::EAlgorithm::kLZMA, kNtuple);
  WriteColumns(folder + "/small_clusters.root", 60, 15'000, 500);
  WriteColumns(folder + "/wide.root", 120, 2000, 2000);
  WriteIndexedFriend(folder + "/friend.root");
  Write(folder + "/short_ntuple.root", 1000, 11, kNtuple);
  Write(folder + "/empty.root", 0, 9, kTree);
  Write(folder + "/no_y.root", 20'000, 7, kTree, {"x", "v"});
  Write(folder + "/no_y_ntuple.root", 20'000, 7, kNtuple, {"x", "v"});
}
