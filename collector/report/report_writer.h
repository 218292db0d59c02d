// `crema report` as a format like those of `crema export`: the same rules of writing and of refusing to overwrite.
#ifndef CREMA_COLLECTOR_REPORT_REPORT_WRITER_H_
#define CREMA_COLLECTOR_REPORT_REPORT_WRITER_H_

#include "collector/exports/export_format.h"

namespace crema {

/// Reads the records for the level of detail, draws the standard charts, writes the page.
const ExportFormat& ReportFormat();

}  // namespace crema

#endif  // CREMA_COLLECTOR_REPORT_REPORT_WRITER_H_
