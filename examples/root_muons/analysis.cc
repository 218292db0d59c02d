#include "analysis.h"

#include <ROOT/RDFHelpers.hxx>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>

#include "muon_pair.h"

namespace root_muons {
namespace {

using ROOT::RVecF;
using ROOT::RVecI;

constexpr double kScaleUncertainty = 0.002;  ///< of the muons' momentum
constexpr double kLeastPt = 20;              ///< GeV
constexpr double kMostEta = 2.4;
constexpr double kMostIsolation = 0.25;

ROOT::RVec<RVecF> ShiftScale(const RVecF& pt) {
  const auto shifted = [&pt](double factor) { return RVecF(pt * static_cast<float>(factor)); };
  return {shifted(1 - kScaleUncertainty), shifted(1 + kScaleUncertainty)};
}

RVecI IsGood(const RVecF& pt, const RVecF& eta, const RVecF& isolation) {
  return pt > kLeastPt && abs(eta) < kMostEta && isolation < kMostIsolation;
}

MuonPair PairOfGood(const RVecI& good, const RVecF& pt, const RVecF& eta, const RVecF& phi, const RVecF& mass,
                    const RVecI& charge) {
  return BestPair(pt[good], eta[good], phi[good], mass[good], charge[good]);
}

}  // namespace

Found Analyze(const std::string& path, const crema::DataFrameOptions& options) {
  ROOT::RDataFrame events("Events", path);
  auto tracked = crema::TrackDataFrame(events, options);  // this is all that crema needs

  auto pairs = events.Vary("Muon_pt", ShiftScale, {"Muon_pt"}, {"down", "up"}, "scale")
                   .Define("good", IsGood, {"Muon_pt", "Muon_eta", "Muon_pfRelIso04_all"})
                   .Filter([](const RVecI& good) { return Sum(good) >= 2; }, {"good"}, "two muons")
                   .Define("pair", PairOfGood, {"good", "Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge"})
                   .Define("pair_mass", [](const MuonPair& pair) { return pair.mass; }, {"pair"})
                   .Define("pair_pt", [](const MuonPair& pair) { return pair.pt; }, {"pair"})
                   .Filter([](double mass) { return mass > 60 && mass < 120; }, {"pair_mass"}, "Z mass window");
  auto mass = pairs.Histo1D<double, float>({"mass", "mass of the pair;m [GeV]", 120, 60, 120}, "pair_mass", "weight");
  auto pt = pairs.Histo1D<double, float>({"pt", "momentum of the pair;p_{T} [GeV]", 100, 0, 200}, "pair_pt", "weight");
  auto met = pairs.Histo1D<float, float>({"met", "missing momentum;p_{T} [GeV]", 100, 0, 200}, "MET_pt", "weight");
  auto all = events.Count();
  auto masses = ROOT::RDF::Experimental::VariationsFor(mass);
  auto pts = ROOT::RDF::Experimental::VariationsFor(pt);

  Found found;
  found.events = *all;
  for (const std::string& variation : masses.GetKeys()) {
    found.mass.emplace(variation, masses[variation]);
    found.pt.emplace(variation, pts[variation]);
  }
  found.met = *met;
  return found;
}

}  // namespace root_muons
