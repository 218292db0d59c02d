// Selects Z bosons in two muons, with systematic variations, in files that `replicate` wrote:
//
//   root_muons THREADS OUTPUT.root FILE...     0 threads: ROOT's event loops run on the main thread
//
// Each file is a dataset, named after it. Prints a line for each; the histograms go into OUTPUT.
#include <TDirectory.h>
#include <TFile.h>
#include <TH1D.h>
#include <TROOT.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "analysis.h"

namespace {

void Report(const std::string& dataset, const root_muons::Found& found) {
  const TH1D& nominal = found.mass.at("nominal");
  const auto shift = [&](const char* variation) { return found.mass.at(variation).GetMean() - nominal.GetMean(); };
  std::printf("%-13s %9llu events %8.0f pairs  mass %.3f GeV, scale %+.3f %+.3f\n", dataset.c_str(), found.events,
              nominal.GetEntries(), nominal.GetMean(), shift("scale:down"), shift("scale:up"));
}

void Write(const root_muons::Found& found, TDirectory* folder) {
  for (const auto& [variation, histogram] : found.mass) folder->WriteObject(&histogram, ("mass_" + variation).c_str());
  for (const auto& [variation, histogram] : found.pt) folder->WriteObject(&histogram, ("pt_" + variation).c_str());
  folder->WriteObject(&found.met, "met");
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 4) {
    std::fprintf(stderr, "usage: root_muons THREADS OUTPUT.root FILE...\n");
    return 2;
  }
  if (const int threads = std::atoi(arguments[1]); threads > 0) ROOT::EnableImplicitMT(static_cast<unsigned>(threads));
  TFile output(arguments[2], "RECREATE");
  for (int i = 3; i < count; ++i) {
    const std::string dataset = std::filesystem::path(arguments[i]).stem();
    const root_muons::Found found = root_muons::Analyze(arguments[i], {dataset});
    Report(dataset, found);
    Write(found, output.mkdir(dataset.c_str(), "", true));  // the one that is there, where files have the same name
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "root_muons: %s\n", error.what());
  return 1;
}
