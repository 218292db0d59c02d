// What the timeline's script draws: columns of integers, names interned.
#ifndef CREMA_COLLECTOR_REPORT_TIMELINE_DATA_H_
#define CREMA_COLLECTOR_REPORT_TIMELINE_DATA_H_

#include "collector/report/page_block.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// Times are integers in units of `unit` seconds; starts of attempts are differences to the one before. -1: not
/// measured. The script (page/timeline.js) is the only reader.
nlohmann::ordered_json TimelineData(const PageInput& input);

}  // namespace crema

#endif  // CREMA_COLLECTOR_REPORT_TIMELINE_DATA_H_
