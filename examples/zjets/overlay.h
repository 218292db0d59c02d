// Overlay: one hard event with pile-up on top.
#ifndef CREMA_EXAMPLES_ZJETS_OVERLAY_H_
#define CREMA_EXAMPLES_ZJETS_OVERLAY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "examples/zjets/lhe_event.h"

namespace zjets {

/// A coloured particle that jets are made of.
struct Parton {
  double px = 0;
  double py = 0;
  double pz = 0;
  double energy = 0;
  bool signal = false;  ///< of the hard event; else of the pile-up
};

/// The outgoing quarks and gluons of an event.
std::vector<Parton> OutgoingPartons(const LheEvent& event, bool signal);

/// Events to draw pile-up from: the partons of each.
using PileupSample = std::vector<std::vector<Parton>>;

/// Names an event independently of how the data were cut into chunks.
struct EventId {
  std::string_view dataset;
  std::uint64_t file = 0;    ///< number of the file in the dataset
  std::uint64_t entry = 0;   ///< number of the event in the file
  std::uint64_t repeat = 0;  ///< number of the pass over the data
};

/// The partons of `event`, and those of `count` events drawn from `sample` (with replacement). The draw depends on
/// `id` only, so that any worker that gets the event overlays the same pile-up.
std::vector<Parton> Overlay(const LheEvent& event, const EventId& id, const PileupSample& sample, int count);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_OVERLAY_H_
