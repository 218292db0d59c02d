// Colours of the table for where nobody knows whether the page around is light or dark.
#ifndef CREMA_COLLECTOR_REPORT_ANY_GROUND_H_
#define CREMA_COLLECTOR_REPORT_ANY_GROUND_H_

#include <string>
#include <string_view>

namespace crema {

/// The colour of that name as `#rrggbb`: of those between its light and its dark form the one that is as well seen on
/// white as on nearly black.
std::string ColourOnAnyGround(std::string_view name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_REPORT_ANY_GROUND_H_
