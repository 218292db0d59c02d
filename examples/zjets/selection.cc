#include "examples/zjets/selection.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace zjets {
namespace {

double Pt(const Particle& particle) { return std::sqrt(particle.px * particle.px + particle.py * particle.py); }

bool IsGoodLepton(const Particle& particle) {
  const int kind = std::abs(particle.pdg_id);
  if (particle.status != kOutgoing || (kind != 11 && kind != 13)) return false;
  const double pt = Pt(particle);
  return pt > kLeptonMinPt && std::fabs(std::asinh(particle.pz / pt)) < kLeptonMaxEta;
}

double Distance(const Jet& jet, const Particle& lepton) {
  const double rapidity = std::asinh(lepton.pz / Pt(lepton));  // leptons are as good as massless
  const double phi = std::remainder(jet.phi - std::atan2(lepton.py, lepton.px), 2 * M_PI);
  return std::hypot(jet.rapidity - rapidity, phi);
}

}  // namespace

Selection Select(const LheEvent& event, const std::vector<Jet>& jets) {
  Selection selection;
  std::vector<const Particle*> leptons;
  for (const Particle& particle : event.particles) {
    if (IsGoodLepton(particle)) leptons.push_back(&particle);
  }
  // of one kind and opposite charge: particle and antiparticle
  if (leptons.size() != 2 || leptons[0]->pdg_id + leptons[1]->pdg_id != 0) return selection;
  const Particle &a = *leptons[0], &b = *leptons[1];
  const double px = a.px + b.px, py = a.py + b.py, pz = a.pz + b.pz, energy = a.energy + b.energy;
  selection.passed = kTwoLeptons;
  selection.z_pt = std::sqrt(px * px + py * py);
  selection.z_mass = std::sqrt(std::max(0.0, energy * energy - px * px - py * py - pz * pz));
  if (selection.z_mass < kZMinMass || selection.z_mass > kZMaxMass) return selection;
  selection.passed = kZWindow;

  for (const Jet& jet : jets) {
    if (jet.pt > kJetMinPt && std::fabs(jet.rapidity) < kJetMaxRapidity && jet.signal_fraction > kJetMinSignal &&
        Distance(jet, a) > kJetMinDistance && Distance(jet, b) > kJetMinDistance) {
      selection.jets.push_back(jet);
    }
  }
  std::sort(selection.jets.begin(), selection.jets.end(), [](const Jet& x, const Jet& y) { return x.pt > y.pt; });
  if (!selection.jets.empty()) selection.passed = selection.jets.size() == 1 ? kOneJet : kTwoJets;
  return selection;
}

}  // namespace zjets
