// How much a value differs between two sides of several runs, from how it scatters within each.
#ifndef CREMA_COLLECTOR_INSIGHT_BETWEEN_SIDES_H_
#define CREMA_COLLECTOR_INSIGHT_BETWEEN_SIDES_H_

#include <vector>

namespace crema {

/// A change with half the width of its 90 % range to either side.
struct MeasuredChange {
  double change = 0;
  double below = 0;
  double above = 0;
  double probability_of_none = 1;  ///< of a change so far from 0, if there is none
};

/// One value a run, in the order in which the runs of a side ran; three runs at least in all. With as many on both
/// sides, the first of one ran next to the first of the other, and so on: where such pairs are more alike than chance
/// makes them, what their runs share cancels. `deviation` gets the standard deviation of equal runs.
MeasuredChange BetweenSides(const std::vector<double>& before, const std::vector<double>& after, double* deviation);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_BETWEEN_SIDES_H_
