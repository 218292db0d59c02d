// The report: one HTML file that needs nothing else, neither a network nor a server.
#ifndef CREMA_COLLECTOR_REPORT_REPORT_PAGE_H_
#define CREMA_COLLECTOR_REPORT_REPORT_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "collector/detail/run_detail.h"
#include "collector/measurement/measurement.h"
#include "collector/report/page_block.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// A page larger than this is slow to open and not sent by mail.
inline constexpr size_t kLargestPage = 5'000'000;

/// The page. Where it would be larger than `largest`, the sections of single chunks are left out, then tables get
/// shorter, then the charts with most marks are left out; the page says so. `chart_config` is `{"light": …, "dark":
/// …}`. `baseline`: another measurement, that key figures are compared with; may be null, as may `outlook`
/// and `flames` (`FlamesOf`).
std::string ReportPage(const Measurement& measurement, const RunDetail& detail, const std::vector<PageChart>& charts,
                       const nlohmann::ordered_json& chart_config, const Measurement* baseline = nullptr,
                       size_t largest = kLargestPage, const RunOutlook* outlook = nullptr,
                       const nlohmann::ordered_json* flames = nullptr);

/// Whether a file that begins so is a page of ours.
bool IsReportPage(std::string_view beginning);

}  // namespace crema

#endif  // CREMA_COLLECTOR_REPORT_REPORT_PAGE_H_
