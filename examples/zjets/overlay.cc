#include "examples/zjets/overlay.h"

#include <cstdlib>

#include "examples/zjets/random_bits.h"

namespace zjets {
namespace {

bool HasColour(int pdg_id) { return pdg_id == 21 || (std::abs(pdg_id) >= 1 && std::abs(pdg_id) <= 6); }

std::uint64_t Seed(const EventId& id) {
  std::uint64_t seed = 0;
  for (const char letter : id.dataset) seed = MixBits(seed ^ static_cast<unsigned char>(letter));
  for (const std::uint64_t number : {id.file, id.entry, id.repeat}) seed = MixBits(seed ^ number);
  return seed;
}

}  // namespace

std::vector<Parton> OutgoingPartons(const LheEvent& event, bool signal) {
  std::vector<Parton> partons;
  for (const Particle& particle : event.particles) {
    if (particle.status != kOutgoing || !HasColour(particle.pdg_id)) continue;
    partons.push_back({particle.px, particle.py, particle.pz, particle.energy, signal});
  }
  return partons;
}

std::vector<Parton> Overlay(const LheEvent& event, const EventId& id, const PileupSample& sample, int count) {
  std::vector<Parton> partons = OutgoingPartons(event, /*signal=*/true);
  if (sample.empty()) return partons;
  const std::uint64_t seed = Seed(id);
  for (int i = 0; i < count; ++i) {
    const std::vector<Parton>& drawn = sample[MixBits(seed + static_cast<std::uint64_t>(i)) % sample.size()];
    partons.insert(partons.end(), drawn.begin(), drawn.end());
  }
  return partons;
}

}  // namespace zjets
