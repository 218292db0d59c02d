// Selection: Z bosons with jets.
#ifndef CREMA_EXAMPLES_ZJETS_SELECTION_H_
#define CREMA_EXAMPLES_ZJETS_SELECTION_H_

#include <array>
#include <vector>

#include "examples/zjets/clustering.h"
#include "examples/zjets/lhe_event.h"

namespace zjets {

/// The steps of the selection; each includes those before it.
enum Cut { kAllEvents, kTwoLeptons, kZWindow, kOneJet, kTwoJets };

inline constexpr std::array<const char*, 5> kCutNames = {"all events", "two leptons", "Z mass window", "one jet",
                                                         "two jets"};

// Roughly what the experiments' Z+jets measurements use.
inline constexpr double kLeptonMinPt = 20;      // GeV
inline constexpr double kLeptonMaxEta = 2.4;    // muon chambers, tracker
inline constexpr double kZMinMass = 71;         // GeV
inline constexpr double kZMaxMass = 111;        // GeV
inline constexpr double kJetMinPt = 30;         // GeV, after subtraction
inline constexpr double kJetMaxRapidity = 2.4;  // where tracks show the jet's vertex
inline constexpr double kJetMinSignal = 0.5;    // share of its pt that comes from the hard event's vertex
inline constexpr double kJetMinDistance = 0.4;  // to both leptons

struct Selection {
  Cut passed = kAllEvents;  ///< the last step that the event passes
  double z_mass = 0;        ///< GeV; of the lepton pair, from kTwoLeptons on
  double z_pt = 0;          ///< GeV
  std::vector<Jet> jets;    ///< from kZWindow on: those that count, hardest first
};

/// Finds the last step that an event passes. `jets` need be neither ordered nor selected.
Selection Select(const LheEvent& event, const std::vector<Jet>& jets);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_SELECTION_H_
