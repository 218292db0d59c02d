#include "collector/measurement/findings.h"

#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr Column kEvidenceColumns[] = {ColumnOf<&EvidenceRow::key>(Kind::kText, 0, "of the document"),
                                       ColumnOf<&EvidenceRow::value>(Kind::kNumber, 0, "its value")};

constexpr Column kStragglerColumns[] = {
    ColumnOf<&StragglerRow::chunk>(Kind::kText, 0, "its number in the log of its process"),
    ColumnOf<&StragglerRow::dataset>(Kind::kText, 1, "as recorded"),
    ColumnOf<&StragglerRow::file>(Kind::kPath, 2, "as recorded"),
    ColumnOf<&StragglerRow::entry_start>("from entry", Kind::kExactCount, 6, "first entry of the file"),
    ColumnOf<&StragglerRow::entry_stop>("to entry", Kind::kExactCount, 6, "one past its last entry"),
    ColumnOf<&StragglerRow::worker>(Kind::kText, 2, "`<host>:<pid>`"),
    ColumnOf<&StragglerRow::start>(Kind::kDuration, 5, "since the run's start"),
    ColumnOf<&StragglerRow::duration>("took", Kind::kDuration, 0, "what it took"),
    ColumnOf<&StragglerRow::predicted>(Kind::kDuration, 0,
                                       "what the robust fit of its dataset predicts for its events"),
    ColumnOf<&StragglerRow::events>(Kind::kCount, 3, "as recorded"),
    ColumnOf<&StragglerRow::cpu>(Kind::kDuration, 3, "its part of `chunk_cpu_time`"),
    ColumnOf<&StragglerRow::cpu_wait>("cpu wait", Kind::kDuration, 4, "run delay of the owner"),
    ColumnOf<&StragglerRow::blocked>(Kind::kDuration, 4, "time in which the owner was blocked"),
    ColumnOf<&StragglerRow::reason>(Kind::kText, 1,
                                    "where most of the excess went: cpu, cpu_wait, blocked, joined or unknown"),
    ColumnOf<&StragglerRow::section>(Kind::kText, 5,
                                     "the section whose own time exceeds what was predicted for the whole chunk by "
                                     "half of the excess or more; null: none does"),
};

constexpr Column kChunkFitColumns[] = {
    ColumnOf<&ChunkFitRow::dataset>(Kind::kText, 0, "as recorded"),
    ColumnOf<&ChunkFitRow::pass>(Kind::kText, 1, "as recorded"),
    ColumnOf<&ChunkFitRow::attempts>("ok attempts", Kind::kCount, 1, "ok attempts in the fit"),
    ColumnOf<&ChunkFitRow::fixed_seconds>("fixed", Kind::kDuration, 0,
                                          "the part of a chunk's time that does not depend on its size, at most what "
                                          "the fit gives for chunks of the run; "
                                          "this and the next five are null if all chunks have one size"),
    ColumnOf<&ChunkFitRow::fixed_seconds_low>("from", Kind::kDuration, 3,
                                              "lower end of its 95 % interval, from the scale of the residuals"),
    ColumnOf<&ChunkFitRow::fixed_seconds_high>("to", Kind::kDuration, 3, "upper end"),
    ColumnOf<&ChunkFitRow::seconds_per_event>("per event", Kind::kDuration, 0, "what each event adds"),
    ColumnOf<&ChunkFitRow::seconds_per_event_low>("from", Kind::kDuration, 4, "lower end of its 95 % interval"),
    ColumnOf<&ChunkFitRow::seconds_per_event_high>("to", Kind::kDuration, 4, "upper end"),
    ColumnOf<&ChunkFitRow::events_min>(
        "least events", Kind::kCount, 2,
        "fewest events of a chunk; null where no chunk recorded its events, as the next two"),
    ColumnOf<&ChunkFitRow::events_p50>("median events", Kind::kCount, 1, "median"),
    ColumnOf<&ChunkFitRow::events_max>("most events", Kind::kCount, 2, "most events of a chunk"),
    ColumnOf<&ChunkFitRow::stragglers>(Kind::kCount, 1, "attempts far slower than the fit; null below 8 `ok` attempts"),
    ColumnOf<&ChunkFitRow::oversized>(Kind::kCount, 1, "results with over 3 times the median's events"),
};

constexpr Column kExpectedTimeColumns[] = {
    ColumnOf<&ExpectedTimeRow::name>(Kind::kPath, 0, "of the worker or file"),
    ColumnOf<&ExpectedTimeRow::by>("of", Kind::kText, 0, "worker or file"),
    ColumnOf<&ExpectedTimeRow::attempts>("ok attempts", Kind::kCount, 2, "ok attempts that a fit judges"),
    ColumnOf<&ExpectedTimeRow::duration>("took", Kind::kDuration, 0, "what they took together"),
    ColumnOf<&ExpectedTimeRow::predicted>(Kind::kDuration, 0,
                                          "what the robust fits of their datasets predict for their events"),
};

constexpr Column kSlowPeriodColumns[] = {
    ColumnOf<&SlowPeriodRow::name>(Kind::kPath, 0,
                                   "of the worker, host, file or dataset; null where everything was slow"),
    ColumnOf<&SlowPeriodRow::by>("of", Kind::kText, 0, "file, worker, host, dataset or run"),
    ColumnOf<&SlowPeriodRow::start>("from", Kind::kDuration, 1, "since the run's start: the first begin of its chunks"),
    ColumnOf<&SlowPeriodRow::stop>("until", Kind::kDuration, 1, "since the run's start: their last stop"),
    ColumnOf<&SlowPeriodRow::attempts>("ok attempts", Kind::kCount, 2, "ok attempts in it, as the next two"),
    ColumnOf<&SlowPeriodRow::duration>("took", Kind::kDuration, 0, "what they took"),
    ColumnOf<&SlowPeriodRow::predicted>(Kind::kDuration, 0, "what the fits of their datasets predict for their events"),
    ColumnOf<&SlowPeriodRow::reason>(Kind::kText, 1,
                                     "where most of the time beyond that went, compared with other chunks: `cpu`, "
                                     "`cpu_wait`, `blocked`, `joined` or `unknown`"),
    ColumnOf<&SlowPeriodRow::section>(Kind::kText, 2,
                                      "the section whose own time took over half of that; null where no one section "
                                      "did, for all but the first 10 spells, and where the records were a stream"),
};

constexpr Column kContentionColumns[] = {
    ColumnOf<&ContentionRow::attempts>("ok attempts", Kind::kCount, 1,
                                       "ok attempts whose events, CPU time and run delay are known"),
    ColumnOf<&ContentionRow::lanes_low>("lanes from", Kind::kNumber, 2,
                                        "mean number of open lanes during a chunk: 5 % of the chunks had fewer")
        .In("count"),
    ColumnOf<&ContentionRow::lanes_high>("to", Kind::kNumber, 2, "5 % had more").In("count"),
    ColumnOf<&ContentionRow::slope>(
        "longer per lane", Kind::kDuration, 0,
        "how much longer an event is blocked with each further lane; null if the records do not show it"),
    ColumnOf<&ContentionRow::slope_low>("from", Kind::kDuration, 1,
                                        "lower end of its 90 % interval: above 0 there is a shared resource"),
    ColumnOf<&ContentionRow::slope_high>("to", Kind::kDuration, 1, "its upper end"),
    ColumnOf<&ContentionRow::ceiling>(
        Kind::kRate, 0, "1 / slope, events per second that the resource serves; null where slope_low is not above 0"),
    ColumnOf<&ContentionRow::ceiling_low>("from", Kind::kRate, 1, "1 / slope_high"),
    ColumnOf<&ContentionRow::ceiling_high>("to", Kind::kRate, 1, "1 / slope_low"),
    ColumnOf<&ContentionRow::excess>("blocked for it", Kind::kDuration, 0,
                                     "the part of the blocked time that the slope gives for the lanes beyond one"),
    ColumnOf<&ContentionRow::excess_low>("at least", Kind::kDuration, 2, "the same with slope_low"),
    FieldOf<&ContentionRow::points>(Kind::kText,
                                    "pairs of mean open lanes and median blocked seconds per event, without the "
                                    "differences between datasets; at most 24"),
    ColumnOf<&ContentionRow::reason>(Kind::kText, 0, "why there is no slope"),
};

constexpr Column kChunkSizeAdviceColumns[] = {
    ColumnOf<&ChunkSizeAdviceRow::dataset>(Kind::kText, 0, "as recorded"),
    ColumnOf<&ChunkSizeAdviceRow::pass>(Kind::kText, 1, "as recorded").OptIn(),
    ColumnOf<&ChunkSizeAdviceRow::events_p50>("median events", Kind::kCount, 0, "median of its chunks"),
    ColumnOf<&ChunkSizeAdviceRow::events_least>("at least", Kind::kCount, 0,
                                                "from here on the fixed cost of a chunk is under 5 %"),
    ColumnOf<&ChunkSizeAdviceRow::events_most>(
        "at most", Kind::kCount, 0,
        "up to here the tail is expected to stay under 5 %, and memory under the limit; null: neither bounds it"),
    ColumnOf<&ChunkSizeAdviceRow::seconds_least>("takes", Kind::kDuration, 2, "what a chunk of events_least takes"),
    ColumnOf<&ChunkSizeAdviceRow::seconds_most>("takes", Kind::kDuration, 2, "what a chunk of events_most takes"),
    ColumnOf<&ChunkSizeAdviceRow::limited_by>("limited by", Kind::kText, 1, "what sets events_most: tail or memory"),
    ColumnOf<&ChunkSizeAdviceRow::reason>(Kind::kText, 1, "why there is no advice, or what it could not consider"),
};

constexpr Column kResourceAdviceColumns[] = {
    ColumnOf<&ResourceAdviceRow::resource>(Kind::kText, 0, "memory, in bytes, or cores"),
    ColumnOf<&ResourceAdviceRow::jobs>(Kind::kCount, 0,
                                       "jobs that ended by themselves, and of which it is known what they used: "
                                       "largest memory; CPU time over elapsed time"),
    ColumnOf<&ResourceAdviceRow::requested>(Kind::kNumber, 0, "median of what jobs had"),
    ColumnOf<&ResourceAdviceRow::used>(
        Kind::kNumber, 0,
        "99 % quantile of what they used, the value of rank ceil(0.99 n): the request to make; null: `reason`"),
    ColumnOf<&ResourceAdviceRow::used_low>("from", Kind::kNumber, 1,
                                           "lower end of its 95 % interval, by the order of the values alone"),
    ColumnOf<&ResourceAdviceRow::used_high>("to", Kind::kNumber, 1, "upper end; null: there are too few jobs for one"),
    ColumnOf<&ResourceAdviceRow::reason>(Kind::kText, 1, "why there is no advice, or no upper end"),
};

constexpr Column kVerdictColumns[] = {
    ColumnOf<&VerdictRow::id>(Kind::kText, 0, "see [verdicts](verdicts.md)"),
    ColumnOf<&VerdictRow::severity>(Kind::kText, 0, "good, info, warning or bad"),
    ColumnOf<&VerdictRow::sentence>("finding", Kind::kText, 0, "the finding, for people"),
    FieldOf<&VerdictRow::evidence>(Kind::kText, "rows `key value`: the figures that made it fire"),
    ColumnOf<&VerdictRow::suggestion>("what to do", Kind::kText, 2, "what to do; empty where nothing is to be done"),
    ColumnOf<&VerdictRow::saving>("could save", Kind::kShare, 1,
                                  "share of the core-seconds that could be saved; null if it is not known"),
    ColumnOf<&VerdictRow::cause>(
        "explained by", Kind::kText, 1,
        "id of the verdict that explains this one, which comes before it; null if there is none"),
};

}  // namespace

absl::Span<const Column> EvidenceRow::Columns() { return kEvidenceColumns; }
absl::Span<const Column> StragglerRow::Columns() { return kStragglerColumns; }
absl::Span<const Column> ChunkFitRow::Columns() { return kChunkFitColumns; }
absl::Span<const Column> ExpectedTimeRow::Columns() { return kExpectedTimeColumns; }
absl::Span<const Column> SlowPeriodRow::Columns() { return kSlowPeriodColumns; }
absl::Span<const Column> ContentionRow::Columns() { return kContentionColumns; }
absl::Span<const Column> ChunkSizeAdviceRow::Columns() { return kChunkSizeAdviceColumns; }
absl::Span<const Column> ResourceAdviceRow::Columns() { return kResourceAdviceColumns; }
absl::Span<const Column> VerdictRow::Columns() { return kVerdictColumns; }

void WriteValue(const std::vector<LanePoint>& member, Json* value) {
  *value = Json::array();
  for (const auto& [lanes, seconds] : member) value->push_back({lanes, seconds});
}

void ReadValue(const Json& value, std::vector<LanePoint>* member) {
  member->clear();
  for (size_t i = 0; i < internal::SizeOf(value); ++i) {
    const Json& point = value[i];
    if (point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number()) {
      member->push_back({point[0].get<double>(), point[1].get<double>()});
    }
  }
}

}  // namespace crema
