#include "examples/zjets/clustering.h"

#include <cmath>
#include <stdexcept>

#include "fastjet/ClusterSequence.hh"
#include "fastjet/Error.hh"

namespace zjets {
namespace {

std::vector<Jet> Cluster(const std::vector<Parton>& partons, const Ghosts& ghosts) {
  std::vector<fastjet::PseudoJet> particles;
  particles.reserve(partons.size() + ghosts.particles.size());
  for (const Parton& parton : partons) particles.emplace_back(parton.px, parton.py, parton.pz, parton.energy);
  particles.insert(particles.end(), ghosts.particles.begin(), ghosts.particles.end());

  const fastjet::JetDefinition definition(fastjet::antikt_algorithm, kJetRadius);
  const fastjet::ClusterSequence sequence(particles, definition);
  const std::vector<fastjet::PseudoJet> clustered = sequence.inclusive_jets();
  const std::vector<int> jet_of_particle = sequence.particle_jet_indices(clustered);

  struct Content {
    double pt = 0;
    double signal_pt = 0;
    int ghosts = 0;
  };
  std::vector<Content> contents(clustered.size());
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (jet_of_particle[i] < 0) continue;
    Content& content = contents[static_cast<std::size_t>(jet_of_particle[i])];
    if (i >= partons.size()) {
      ++content.ghosts;
      continue;
    }
    const double pt = std::sqrt(partons[i].px * partons[i].px + partons[i].py * partons[i].py);
    content.pt += pt;
    if (partons[i].signal) content.signal_pt += pt;
  }

  std::vector<Jet> jets;
  for (std::size_t i = 0; i < clustered.size(); ++i) {
    if (contents[i].pt == 0) continue;  // ghosts only
    jets.push_back({clustered[i].pt(), clustered[i].rap(), clustered[i].phi(), contents[i].ghosts * ghosts.area,
                    contents[i].signal_pt / contents[i].pt});
  }
  return jets;
}

}  // namespace

void PrepareFastJet() {
  fastjet::ClusterSequence::set_fastjet_banner_stream(nullptr);
  fastjet::Error::set_print_errors(false);  // they are thrown as well
  ClusterJets({{1, 0, 0, 1, true}}, {});
}

std::vector<Jet> ClusterJets(const std::vector<Parton>& partons, const Ghosts& ghosts) {
  try {
    return Cluster(partons, ghosts);
  } catch (const fastjet::Error& error) {  // is not a std::exception
    throw std::runtime_error("FastJet: " + error.message());
  }
}

}  // namespace zjets
