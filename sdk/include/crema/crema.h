// Everything an analysis needs: include this one.
#ifndef CREMA_CREMA_H_
#define CREMA_CREMA_H_

#include "crema/chunk.h"                    // IWYU pragma: export
#include "crema/instrumentation_context.h"  // IWYU pragma: export
#include "crema/record_cut.h"               // IWYU pragma: export
#include "crema/record_metric.h"            // IWYU pragma: export
#include "crema/recorder.h"                 // IWYU pragma: export
#include "crema/span.h"                     // IWYU pragma: export
#include "crema/track_activity.h"           // IWYU pragma: export
#include "crema/track_helper.h"             // IWYU pragma: export
#include "crema/track_io.h"                 // IWYU pragma: export
#include "crema/track_memory.h"             // IWYU pragma: export
#include "crema/track_metrics.h"            // IWYU pragma: export
#include "crema/track_page_faults.h"        // IWYU pragma: export
#include "crema/track_perf_counters.h"      // IWYU pragma: export
#include "crema/track_request.h"            // IWYU pragma: export
#include "crema/track_section.h"            // IWYU pragma: export
#include "crema/track_task.h"               // IWYU pragma: export
#include "crema/version.h"                  // IWYU pragma: export

#endif  // CREMA_CREMA_H_
