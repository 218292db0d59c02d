#include "examples/coffea_dask/kernel.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "crema/crema.h"
#include "examples/coffea_dask/jet_toys.h"

namespace {

using jet_toys::Event;
using jet_toys::Observables;

Event EventAt(const jet_toys_events& events, std::int64_t i) {
  const auto vector = [i](const double* pt, const double* phi) -> jet_toys::Vector2 {
    return {pt[i] * std::cos(phi[i]), pt[i] * std::sin(phi[i])};
  };
  Event event;
  event.number = events.number[i];
  event.lepton = vector(events.lepton_pt, events.lepton_phi);
  event.missing = vector(events.missing_pt, events.missing_phi);
  for (std::int64_t jet = events.jet_offsets[i]; jet < events.jet_offsets[i + 1]; ++jet) {
    event.jets.push_back({events.jet_pt[jet], std::cos(events.jet_phi[jet]), std::sin(events.jet_phi[jet])});
  }
  return event;
}

void Count(const jet_toys_axis& axis, const Observables& observables, std::int64_t* counts) {
  for (const double value : {observables.ht, observables.missing, observables.mt}) {
    const double bin = value / axis.high * static_cast<double>(axis.bins);
    ++counts[bin < static_cast<double>(axis.bins) ? static_cast<std::int64_t>(bin) : axis.bins];
    counts += axis.bins + 1;
  }
}

}  // namespace

void jet_toys_fill(const jet_toys_events* events, std::int64_t toys, const jet_toys_axis* axis, std::int64_t* measured,
                   std::int64_t* varied) {
  std::vector<double> factors;
  for (std::int64_t i = 0; i < events->size; ++i) {
    const Event event = EventAt(*events, i);
    {
      crema::TrackSection section("draw");
      DrawFactors(event, static_cast<std::size_t>(toys), &factors);
    }
    crema::TrackSection section("measure");
    Count(*axis, Measure(event), measured);
    for (std::int64_t toy = 0; toy < toys; ++toy) {
      Count(*axis, Measure(event, factors.data() + static_cast<std::size_t>(toy) * event.jets.size()), varied);
    }
  }
}
