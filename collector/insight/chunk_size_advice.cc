#include "collector/insight/chunk_size_advice.h"

#include <algorithm>
#include <cmath>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// What memory leaves for the events of one chunk.
struct MemoryRoom {
  std::optional<double> events;
  std::string reason;
};

/// The least limit of a worker; nullopt where none is known.
std::optional<double> LeastLimit(const Json& document) {
  std::optional<double> least;
  for (const Json& worker : ListField(document, "workers")) {
    const std::optional<double> limit = NumberField(worker, "memory_limit_bytes");
    if (limit.has_value() && *limit > 0) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

MemoryRoom RoomInMemory(const Json& document) {
  const std::optional<double> limit = LeastLimit(document);
  const std::optional<double> usual = Metric(document, "avg_memory_per_worker_bytes");
  const std::optional<double> per_event = Metric(document, "chunk_rss_delta_per_event_p95");
  if (!limit.has_value()) return {std::nullopt, "memory is not considered: no worker's limit is known"};
  if (Metric(document, "max_open_chunks").value_or(0) > 1) {
    return {std::nullopt, "memory is not considered: chunks open at once share their process's memory"};
  }
  if (!usual.has_value() || !per_event.has_value()) {
    return {std::nullopt, "memory is not considered: it was not sampled"};
  }
  const double room = kMostMemory * *limit - *usual;
  if (*per_event <= 0 || room <= 0) return {};
  return {room / *per_event, ""};
}

/// The duration of chunks whose tail is expected to cost kMostTail; nullopt: there is no tail on one core.
std::optional<double> LongestChunk(const Json& document) {
  const std::optional<double> busy = Metric(document, "busy_time");
  const std::optional<double> cores = Metric(document, "total_cores");
  if (!busy.has_value() || !cores.has_value() || !kSeveralCores.Holds(*cores)) return std::nullopt;
  return 2 * kMostTail * *busy / *cores;
}

ChunkSizeAdvice AdviceOf(const Json& fit, const std::optional<double>& longest, const MemoryRoom& memory) {
  ChunkSizeAdvice advice;
  advice.dataset = TextField(fit, "dataset");
  advice.attempts = NumberField(fit, "attempts").value_or(0);
  advice.events_p50 = NumberField(fit, "events_p50");
  const std::optional<double> fixed = NumberField(fit, "fixed_seconds");
  const std::optional<double> slope = NumberField(fit, "seconds_per_event");
  const double least = NumberField(fit, "events_min").value_or(0);
  const double most = NumberField(fit, "events_max").value_or(0);
  if (!kChunksOfFit.Holds(advice.attempts)) {
    advice.reason = fmt::format("fewer than {} chunks draw no line", kChunksOfFit.value);
  } else if (!advice.events_p50.has_value()) {
    advice.reason = "no chunk said how many events it had (SetEvents)";
  } else if (!fixed.has_value() || !slope.has_value() || !kSpreadOfFit.Holds(most / least)) {
    advice.reason = "the chunks are of one size, which does not tell their fixed cost from that of their events";
  } else if (*slope <= 0) {
    advice.reason = "the duration of chunks does not grow with their events";
  }
  if (!advice.reason.empty()) return advice;
  advice.fixed_seconds = std::max(0.0, *fixed);
  advice.seconds_per_event = *slope;
  advice.events_least = std::ceil(*advice.fixed_seconds * (1 / kMostFixedCost - 1) / *slope);
  if (longest.has_value()) {
    advice.events_most_for_tail = std::max(0.0, std::floor((*longest - *advice.fixed_seconds) / *slope));
  }
  advice.events_most_for_memory = memory.events;
  advice.reason = memory.reason;
  return advice;
}

Json OrNull(const std::optional<double>& number) { return number.has_value() ? Json(*number) : Json(); }

Json WholeOrNull(const std::optional<double>& number) {
  return number.has_value() ? Json(std::llround(std::min(*number, 9e15))) : Json();
}

/// Two significant digits: nobody sets a chunk size to the event.
double Rounded(double events) {
  if (events < 10) return std::max(1.0, std::round(events));
  const double step = std::pow(10, std::floor(std::log10(events)) - 1);
  return std::round(events / step) * step;
}

}  // namespace

std::optional<double> ChunkSizeAdvice::EventsMost() const {
  if (!events_most_for_tail.has_value()) return events_most_for_memory;
  if (!events_most_for_memory.has_value()) return events_most_for_tail;
  return std::min(*events_most_for_tail, *events_most_for_memory);
}

std::optional<double> ChunkSizeAdvice::SecondsOf(const std::optional<double>& events) const {
  if (!events.has_value() || !fixed_seconds.has_value() || !seconds_per_event.has_value()) return std::nullopt;
  return *fixed_seconds + *seconds_per_event * *events;
}

std::vector<ChunkSizeAdvice> AdviseChunkSizes(const Json& document) {
  const std::optional<double> longest = LongestChunk(document);
  const MemoryRoom memory = RoomInMemory(document);
  std::vector<ChunkSizeAdvice> advice;
  for (const Json& fit : ListField(document, "chunk_fits")) advice.push_back(AdviceOf(fit, longest, memory));
  return advice;
}

Json ChunkSizeAdviceRows(const std::vector<ChunkSizeAdvice>& advice) {
  Json rows = Json::array();
  for (const ChunkSizeAdvice& each : advice) {
    const std::optional<double> most = each.EventsMost();
    Json row;
    row["dataset"] = each.dataset.empty() ? Json() : Json(each.dataset);
    row["events_p50"] = WholeOrNull(each.events_p50);
    row["events_least"] = WholeOrNull(each.events_least);
    row["events_most"] = WholeOrNull(most);
    row["seconds_least"] = OrNull(each.SecondsOf(each.events_least));
    row["seconds_most"] = OrNull(each.SecondsOf(most));
    row["limited_by"] = !most.has_value() ? Json() : Json(most == each.events_most_for_tail ? "tail" : "memory");
    row["reason"] = each.reason.empty() ? Json() : Json(each.reason);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string AdviceInWords(const ChunkSizeAdvice& advice) {
  const std::optional<double> most = advice.EventsMost();
  if (!advice.events_least.has_value()) return "";
  const double least = std::max(1.0, Rounded(*advice.events_least));
  if (!most.has_value()) return fmt::format("use at least {} events a chunk", HumanCount(least));
  if (*most < 1) return "even one event a chunk takes too long for so short a run on so many cores";
  if (*most < least) {
    return fmt::format(
        "{} events a chunk keep the tail and the memory low, {} the fixed cost: with this work on these cores not both "
        "can be",
        HumanCount(Rounded(*most)), HumanCount(least));
  }
  return fmt::format("use {} to {} events a chunk", HumanCount(least), HumanCount(Rounded(*most)));
}

}  // namespace crema
