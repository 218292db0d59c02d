// A live run in the shape of a measurement (`crema.measurement/1`): the keys that are known while it goes on.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_DOCUMENT_H_
#define CREMA_COLLECTOR_SERVER_LIVE_DOCUMENT_H_

#include "collector/measurement/catalog.h"
#include "collector/measurement/column.h"
#include "collector/measurement/measurement.h"
#include "collector/measurement/metric_set.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"

namespace crema {

/// Tasks of one prefix.
struct PrefixRow {
  Text prefix;
  Number finished;
  Number compute_seconds;
  Number compute_seconds_in_all;
  static absl::Span<const Column> Columns();
};

/// Tasks that a worker finished.
struct FinishedRow {
  Text worker;
  Number finished;
  static absl::Span<const Column> Columns();
};

/// A scheduler (docs/live_api.md); what is not known is null.
struct SchedulerRow {
  Text address;
  Number workers;
  Number cores;
  Number tasks;
  Number processing;
  Number waiting;
  Number erred;
  Number unrunnable;
  Number finished;
  Number finished_rate_now;
  Number followed_seconds;
  std::vector<PrefixRow> prefixes;
  std::vector<FinishedRow> finished_by_worker;
  std::vector<std::pair<std::string, std::string>> not_measured;  ///< why a value is null, by key
  static absl::Span<const Column> Columns();
};

std::vector<SchedulerRow> SchedulerRows(const LiveModel& model);

/// Adds the sums over them, and why some are null.
void AddSchedulerMetrics(const LiveModel& model, MetricSet* metrics);

/// A chunk in progress.
struct OpenChunkRow {
  Text worker;
  Number chunk;
  Text dataset;
  Text file;
  Number entry_start;
  Number entry_stop;
  Number seconds;
  static absl::Span<const Column> Columns();
};

/// Something that happened.
struct LiveEventRow {
  Number number;
  Number time_ns;
  Text kind;
  Text text;
  static absl::Span<const Column> Columns();
};

/// `run`, `metrics`, `datasets`, `workers` and `quality`. What a live run does not tell is null; `crema show` of the
/// same source has it. So the formats that are written of measurements can be written of it.
Measurement LiveMeasurement(const LiveModel& model, const LiveFigures& figures);

/// The same in JSON, with `definitions`, `schedulers` and what only rows of a live run have. What it does not tell is
/// left out.
nlohmann::ordered_json LiveDocument(const LiveModel& model, const LiveFigures& figures);

/// Definitions of the metrics that a live run may have, in the document's order.
absl::Span<const MetricDefinition> LiveMetrics();

/// The chunks in progress, longest first, at most `most`.
std::vector<OpenChunkRow> OpenChunkRows(const LiveModel& model, size_t most);

/// What happened, newest first.
std::vector<LiveEventRow> EventRows(const LiveModel& model);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_DOCUMENT_H_
