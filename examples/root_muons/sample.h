// The events that are replicated: muons and missing momentum of a sample, under NanoAOD's names.
#ifndef CREMA_EXAMPLES_ROOT_MUONS_SAMPLE_H_
#define CREMA_EXAMPLES_ROOT_MUONS_SAMPLE_H_

#include <ROOT/RVec.hxx>
#include <string>
#include <vector>

namespace root_muons {

/// Momenta and masses in GeV, angles in radians.
struct Event {
  ROOT::RVecF pt;
  ROOT::RVecF eta;
  ROOT::RVecF phi;
  ROOT::RVecF mass;
  ROOT::RVecF isolation;  ///< energy around the muon over its transverse momentum
  ROOT::RVecI charge;
  float met_pt = 0;
  float met_phi = 0;
  float weight = 1;
};

/// The tree `events` of the HZZ file. Throws what RDataFrame throws.
std::vector<Event> ReadHzz(const std::string& path);
/// The tree `Events` of a NanoAOD file. Throws what RDataFrame throws.
std::vector<Event> ReadNanoAod(const std::string& path);

/// The event, turned about the beam and mirrored along it, by a number that belongs to `copy`: physics looks the same
/// from there, and no two copies have the same bytes.
Event Turned(const Event& event, unsigned long long copy);

}  // namespace root_muons

#endif  // CREMA_EXAMPLES_ROOT_MUONS_SAMPLE_H_
