// A run's summary as a piece of HTML that a notebook, or any other page, can hold: `crema show --html`.
#pragma once

#include "collector/measurement/measurement.h"

namespace crema {

/// What the terminal's summary says, in one `<div class="crema">` with its style; no script, nothing that is loaded.
/// The page around it may be light or dark: text has its colour, and what has a colour of its own is readable on both.
/// It never fails on missing or null fields: what was not measured is a dash with its reason.
std::string SummaryFragment(const Measurement& measurement);

/// The colour of that name as `#rrggbb`: of those between its light and its dark form the one that is as well seen on
/// white as on nearly black.
std::string ColourOnAnyGround(std::string_view name);

}  // namespace crema
