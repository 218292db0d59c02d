#include "collector/insight/event_lines.h"

#include <cstddef>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kMostDatasets = 3;

std::string LatencyLine(const EventLatencyRow& row) {
  const double latency = row.latency_seconds.value_or(0);
  std::string line = "Latency: ";
  if (row.p50_seconds.has_value()) {
    line += fmt::format("median {}, 95 % {}, ", HumanDuration(*row.p50_seconds),
                        HumanDuration(row.p95_seconds.value_or(0)));
  }
  line += fmt::format("longest {}.", HumanDuration(row.max_seconds.value_or(0)));
  if (latency <= 0) return line;
  const auto share = [&](const Number& part) { return HumanPercent(part.value_or(0) / latency); };
  return line + fmt::format(" At work {}, queued {}, external {}, nothing ready {}.", share(row.active_seconds),
                            share(row.queued_seconds), share(row.external_seconds), share(row.rest_seconds));
}

}  // namespace

std::vector<std::string> EventLines(const Measurement& measurement) {
  std::vector<std::string> lines;
  for (const EventLatencyRow& row : measurement.events) {
    if (lines.size() == 2 * kMostDatasets) break;
    const bool is_named = measurement.events.size() > 1 && row.dataset.has_value();
    std::string line = (is_named ? ShortName(row.dataset.str()) + ": " : "") +
                       fmt::format("{} events, {}/s, {:.2f} in flight", HumanCount(row.events.value_or(0)),
                                   HumanCount(row.events_per_second.value_or(0)), row.in_flight.value_or(0));
    if (row.parallel.has_value()) line += fmt::format("; {:.2f} tasks at once while at work", *row.parallel);
    lines.push_back(line + ".");
    lines.push_back(LatencyLine(row));
  }
  return lines;
}

}  // namespace crema
