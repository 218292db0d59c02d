#include "examples/zjets/dataset_results.h"

namespace zjets {
namespace {

enum HistogramNumber { kZMass, kZPt, kJetCount, kLeadingJetPt, kLeadingJetRapidity, kJetPtSum, kPileupDensity };

constexpr HistogramAxis kAxes[] = {
    {"z_mass", "GeV", 50, 66, 116},
    {"z_pt", "GeV", 50, 0, 250},
    {"jets", "count", 8, 0, 8},
    {"leading_jet_pt", "GeV", 50, 0, 250},
    {"leading_jet_rapidity", "", 24, -2.4, 2.4},
    {"jet_pt_sum", "GeV", 50, 0, 500},
    {"pileup_density", "GeV per unit area", 50, 0, 100},
};

}  // namespace

DatasetResults::DatasetResults() {
  for (const HistogramAxis& axis : kAxes) histograms_.emplace_back(axis);
}

void DatasetResults::CountCuts(const Selection& selection, double weight) {
  for (int cut = kAllEvents; cut <= selection.passed; ++cut) {
    CutCount& count = cuts_[static_cast<std::size_t>(cut)];
    ++count.events;
    count.weights.Add(weight);
  }
}

void DatasetResults::Fill(const Selection& selection, double pileup_density, double weight) {
  if (selection.passed >= kTwoLeptons) histograms_[kZMass].Fill(selection.z_mass, weight);
  if (selection.passed < kZWindow) return;
  histograms_[kZPt].Fill(selection.z_pt, weight);
  histograms_[kJetCount].Fill(static_cast<double>(selection.jets.size()), weight);
  histograms_[kPileupDensity].Fill(pileup_density, weight);
  if (selection.passed < kOneJet) return;
  double sum = 0;
  for (const Jet& jet : selection.jets) sum += jet.pt;
  histograms_[kLeadingJetPt].Fill(selection.jets.front().pt, weight);
  histograms_[kLeadingJetRapidity].Fill(selection.jets.front().rapidity, weight);
  histograms_[kJetPtSum].Fill(sum, weight);
}

void DatasetResults::Merge(const DatasetResults& other) {
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    cuts_[i].events += other.cuts_[i].events;
    cuts_[i].weights.Merge(other.cuts_[i].weights);
  }
  for (std::size_t i = 0; i < histograms_.size(); ++i) histograms_[i].Merge(other.histograms_[i]);
}

void DatasetResults::Write(ByteWriter& out) const {
  for (const CutCount& cut : cuts_) {
    out.Put(cut.events);
    out.Put(cut.weights);
  }
  for (const Histogram& histogram : histograms_) {
    for (const HistogramBin& bin : histogram.bins()) {
      out.Put(bin.entries);
      out.Put(bin.weights);
      out.Put(bin.squared_weights);
    }
  }
}

DatasetResults DatasetResults::Read(ByteReader& in) {
  DatasetResults results;
  for (CutCount& cut : results.cuts_) {
    cut.events = in.Get<std::int64_t>();
    cut.weights = in.Get<ExactSum>();
  }
  for (Histogram& histogram : results.histograms_) {
    for (HistogramBin& bin : histogram.bins()) {
      bin.entries = in.Get<std::int64_t>();
      bin.weights = in.Get<ExactSum>();
      bin.squared_weights = in.Get<ExactSum>();
    }
  }
  return results;
}

}  // namespace zjets
