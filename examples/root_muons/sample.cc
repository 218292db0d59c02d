#include "sample.h"

#include <Math/Vector4D.h>

#include <ROOT/RDataFrame.hxx>
#include <cmath>
#include <cstddef>
#include <utility>

namespace root_muons {
namespace {

using ROOT::RVecF;
using ROOT::RVecI;

constexpr double kPi = 3.14159265358979323846;

/// Uniform in [0, 1): SplitMix64 (Steele, Lea, Flood 2014) of `number`.
double Fraction(unsigned long long number) {
  number += 0x9E3779B97F4A7C15U;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
  number ^= number >> 31U;
  return static_cast<double>(number >> 11U) * 0x1.0p-53;
}

float TurnedAngle(float phi, double angle) { return static_cast<float>(std::remainder(phi + angle, 2 * kPi)); }

}  // namespace

std::vector<Event> ReadHzz(const std::string& path) {
  std::vector<Event> events;
  ROOT::RDataFrame frame("events", path);
  frame.Foreach(
      [&events](const RVecF& px, const RVecF& py, const RVecF& pz, const RVecF& energy, const RVecI& charge,
                const RVecF& isolation, float met_px, float met_py, float weight) {
        Event event;
        for (std::size_t i = 0; i < px.size(); ++i) {
          const ROOT::Math::PxPyPzEVector muon(px[i], py[i], pz[i], energy[i]);
          event.pt.push_back(static_cast<float>(muon.Pt()));
          event.eta.push_back(static_cast<float>(muon.Eta()));
          event.phi.push_back(static_cast<float>(muon.Phi()));
          event.mass.push_back(0.10566F);  // not computed: the energies are rounded
          event.isolation.push_back(static_cast<float>(isolation[i] / muon.Pt()));
        }
        event.charge = charge;
        event.met_pt = std::hypot(met_px, met_py);
        event.met_phi = std::atan2(met_py, met_px);
        event.weight = weight;
        events.push_back(std::move(event));
      },
      {"Muon_Px", "Muon_Py", "Muon_Pz", "Muon_E", "Muon_Charge", "Muon_Iso", "MET_px", "MET_py", "EventWeight"});
  return events;
}

std::vector<Event> ReadNanoAod(const std::string& path) {
  std::vector<Event> events;
  ROOT::RDataFrame frame("Events", path);
  frame.Foreach(
      [&events](const RVecF& pt, const RVecF& eta, const RVecF& phi, const RVecF& mass, const RVecF& isolation,
                const RVecI& charge, float met_pt, float met_phi) {
        events.push_back({pt, eta, phi, mass, isolation, charge, met_pt, met_phi, 1});
      },
      {"Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_pfRelIso04_all", "Muon_charge", "MET_pt", "MET_phi"});
  return events;
}

Event Turned(const Event& event, unsigned long long copy) {
  Event turned = event;
  const double angle = 2 * kPi * Fraction(2 * copy);
  for (float& phi : turned.phi) phi = TurnedAngle(phi, angle);
  turned.met_phi = TurnedAngle(turned.met_phi, angle);
  if (Fraction(2 * copy + 1) < 0.5) turned.eta = -turned.eta;
  return turned;
}

}  // namespace root_muons
