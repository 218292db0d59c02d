// The report: one HTML file that needs nothing else, neither a network nor a server.
#pragma once

#include "collector/exports/export_format.h"
#include "collector/measurement/measurement.h"
#include "collector/plot_data/run_detail.h"
#include "collector/report/page_block.h"

namespace crema {

/// What a page can show, and what a browser draws at once.
inline constexpr size_t kMostFlames = 3'000;

/// `{"functions": [[name, short name, "file:line"], …], "places": [{"dataset", "section", "samples", "tree"}, …],
/// "left_out": …}`. A tree is a list of `[depth, function, samples, own]`, each function above what it called:
/// `samples` have it on the stack, in `own` of these it ran itself. Of more than `most` functions on stacks the rarest
/// are `left_out`. Names are cut after 200 bytes.
Json FlamesOf(const SampledStacks& stacks, size_t most = kMostFlames);

/// A page larger than this is slow to open and not sent by mail.
inline constexpr size_t kLargestPage = 5'000'000;

/// The page. Where it would be larger than `largest`, the sections of single chunks are left out, then tables get
/// shorter, then the charts with most marks are left out; the page says so. `chart_config` is `{"light": …, "dark":
/// …}`. `baseline`: another measurement, that key figures are compared with; may be null, as may `outlook`
/// and `flames` (`FlamesOf`).
std::string ReportPage(const Measurement& measurement, const RunDetail& detail, const std::vector<PageChart>& charts,
                       const Json& chart_config, const Measurement* baseline = nullptr, size_t largest = kLargestPage,
                       const RunOutlook* outlook = nullptr, const Json* flames = nullptr);

// A run's summary as a piece of HTML that a notebook, or any other page, can hold: `crema show --html`.

/// What the terminal's summary says, in one `<div class="crema">` with its style; no script, nothing that is loaded.
/// The page around it may be light or dark: text has its colour, and what has a colour of its own is readable on both.
/// It never fails on missing or null fields: what was not measured is a dash with its reason.
std::string SummaryFragment(const Measurement& measurement);

/// The colour of that name as `#rrggbb`: of those between its light and its dark form the one that is as well seen on
/// white as on nearly black.
std::string NeutralColour(std::string_view name);

// The page as a format of exports.

/// Whether a file that begins so is a page of ours.
bool IsReportPage(std::string_view beginning);

/// Reads the records for the level of detail, draws the standard charts, writes the page.
const ExportFormat& ReportFormat();

}  // namespace crema
