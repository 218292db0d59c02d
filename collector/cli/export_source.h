// What formats of export read, from a source that was opened.
#ifndef CREMA_COLLECTOR_CLI_EXPORT_SOURCE_H_
#define CREMA_COLLECTOR_CLI_EXPORT_SOURCE_H_

#include "collector/cli/measured_source.h"
#include "collector/exports/export_format.h"

namespace crema {

/// `measured` outlives it.
inline ExportSource ExportSourceOf(const MeasuredSource& measured) {
  return {measured.measurement(),
          [&measured](const OnAttempt& on_attempt) { return measured.ForEachAttempt(on_attempt); },
          [&measured](const OnTask& on_task) { return measured.ForEachTask(on_task); },
          [&measured] { return measured.FindLogs(); }};
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_EXPORT_SOURCE_H_
