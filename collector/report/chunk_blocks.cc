// Single chunks: the slow ones, and those that failed.

#include "collector/charts/time_charts.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/idioms/units.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/thresholds.h"
#include "collector/report/html.h"
#include "collector/report/report_page.h"

namespace crema {
namespace {

constexpr size_t kSlowest = 20;
constexpr size_t kGroupedFrom = 50;  // more failures than this are listed by error

std::string ChunkName(const RunDetail& detail, const DetailAttempt& attempt) {
  const std::string& file = detail.files[attempt.file];
  std::string html = fmt::format("<span class=\"key d{}\"></span> ", SlotOf(detail, attempt.dataset));
  html += file.empty() ? Name(detail.datasets[attempt.dataset].name, 40) : "<code>" + PathName(file, 28) + "</code>";
  if (attempt.entry_start.has_value()) {
    html += " <small>from entry " + Escaped(ExactCount(*attempt.entry_start)) + "</small>";
  } else {
    html += fmt::format(" <small>chunk {}</small>", attempt.number);
  }
  return html;
}

/// What `Place` says of an attempt.
std::string PlaceTitle(const RunDetail& detail) { return detail.rows_are_threads ? "worker·thread" : "worker·lane"; }

std::string Place(const WorkerNames& names, const RunDetail& detail, const DetailAttempt& attempt) {
  return fmt::format("<code>{}·{}</code>", Name(names.Of(detail.workers[attempt.worker].name), 28), attempt.lane);
}

HtmlCell At(const DetailAttempt& attempt) {
  const double start = Seconds(attempt.start_ns);
  return {Escaped(HumanDuration(std::max(0.0, start))), start};
}

/// What its time went to, where it does not differ from comparable ones.
std::string_view MostOfIt(const DetailAttempt& attempt) {
  const auto share = [&attempt](const std::optional<int64_t>& ns) {
    return ns.has_value() && *attempt.duration_ns > 0
               ? static_cast<double>(*ns) / static_cast<double>(*attempt.duration_ns)
               : 0.0;
  };
  if (kMostOfIt.Holds(share(attempt.cpu_wait_ns))) return "mostly waiting for a CPU";
  if (kMostOfIt.Holds(share(attempt.blocked_ns))) return "mostly blocked";
  return kMostOfIt.Holds(share(attempt.cpu_ns)) ? "mostly computing" : "–";
}

/// Why it took long: what its size explains first, then what its time went to.
std::string Why(const DetailAttempt& attempt) {
  if (attempt.is_oversized) return "<span class=\"pill info\">large chunk</span>";
  if (attempt.straggler_reason == "blocked") return Pill(Mark::kWatch, "blocked");
  if (attempt.straggler_reason == "cpu_wait") return Pill(Mark::kWatch, "waiting for a CPU");
  if (attempt.straggler_reason == "joined") return Pill(Mark::kWatch, "waited for its helpers");
  if (attempt.straggler_reason == "cpu") return Pill(Mark::kWatch, "more computing");
  if (!attempt.straggler_reason.empty()) return Pill(Mark::kWatch, "slow, reason unknown");
  return "<span class=\"quiet\">" + std::string(MostOfIt(attempt)) + "</span>";
}

std::string SlowestCard(const PageInput& input) {
  const RunDetail& detail = input.detail;
  std::vector<const DetailAttempt*> slow =
      PlacesWhere(detail.attempts, [](const DetailAttempt& attempt) { return (attempt.kept_for & kKeptAsSlow) != 0; });
  if (slow.empty()) {
    return "<section class=\"card\"><h3>Slowest chunks</h3>" +
           Absent("The slowest chunks",
                  detail.why_no_attempts.empty() ? "no attempt succeeded" : detail.why_no_attempts) +
           "</section>\n";
  }
  SortLargestFirst(&slow, [](const DetailAttempt* a) { return *a->duration_ns; });
  HtmlTable table;
  table.caption = "Slowest chunks";
  table.sorted_by = "duration";
  table.columns = {{"file, chunk", false},
                   {PlaceTitle(detail), false},
                   {"start"},
                   {"events"},
                   {"duration"},
                   {"× median"},
                   {"expected"},
                   {"waiting"},
                   {"why", false}};
  const bool has_notes = detail.notes.size() > 1;
  if (has_notes) table.columns.push_back({"notes", false});
  const std::optional<double> median = input.measurement.Metric("chunk_duration_p50");
  const WorkerNames names = NamesOfWorkers(input.measurement);
  for (const DetailAttempt* attempt : slow) {
    if (table.rows.size() == kSlowest) break;
    const double duration = Seconds(*attempt->duration_ns);
    std::vector<HtmlCell> row = {{ChunkName(detail, *attempt)}, {Place(names, detail, *attempt)}, At(*attempt)};
    row.push_back(NumberCell(attempt->events, HumanCount));
    row.push_back(NumberCell(duration, HumanDuration));
    const double times = median.value_or(0) > 0 ? duration / *median : -1;
    row.push_back({times < 0 ? "–" : HumanFactor(times), times});
    row.push_back(NumberCell(attempt->expected_seconds, HumanDuration));
    std::optional<double> waiting;
    if (attempt->cpu_ns.has_value() && duration > 0) waiting = std::max(0.0, 1 - Seconds(*attempt->cpu_ns) / duration);
    row.push_back(NumberCell(waiting, HumanPercent));
    row.push_back({Why(*attempt)});
    if (has_notes) row.push_back({Name(detail.notes[attempt->notes], 32)});
    table.rows.push_back(std::move(row));
  }
  return "<section class=\"card\"><h3>Slowest chunks</h3>\n" + Render(table) + "</section>\n";
}

std::string DistributionsFold(const Measurement& measurement) {
  HtmlTable table;
  table.caption = "How chunks are distributed";
  table.columns = {{"of a chunk", false}};
  for (const std::string_view column : kShownStatistics) table.columns.push_back({std::string(column)});
  std::string absent;
  for (const ChunkQuantity& quantity : ChunkQuantities()) {
    const std::string mean = std::string(quantity.key) + "_mean";
    if (!measurement.Metric(mean).has_value()) {
      absent += fmt::format("<li>{}: {}</li>", Escaped(quantity.label), Escaped(measurement.WhyNotMeasured(mean)));
      continue;
    }
    std::vector<HtmlCell> cells = {{Term(measurement, mean, quantity.label)}};
    for (const std::string_view column : kShownStatistics) {
      const std::string key = fmt::format("{}_{}", quantity.key, column);
      cells.push_back(FieldCell(CellOf(Number(measurement.Metric(key))), quantity.kind(), "metrics." + key));
    }
    table.rows.push_back(std::move(cells));
  }
  std::string html = table.rows.empty() ? "" : Render(table);
  if (!absent.empty()) html += "<details><summary>not measured, and why</summary><ul>" + absent + "</ul></details>";
  return Fold("distributions", html);
}

using ChunkKey = std::tuple<uint32_t, uint32_t, int64_t, int64_t>;

ChunkKey KeyOf(const DetailAttempt& attempt) {
  return {attempt.dataset, attempt.file, attempt.entry_start.value_or(-1), attempt.entry_stop.value_or(-1)};
}

std::string Outcome(const WorkerNames& names, const RunDetail& detail, const DetailAttempt& attempt,
                    const std::vector<const DetailAttempt*>& of_chunk) {
  const auto result = absl::c_find_if(of_chunk, [](const DetailAttempt* other) { return other->is_result; });
  const std::string lost =
      attempt.duration_ns.has_value() ? ", " + HumanDuration(Seconds(*attempt.duration_ns)) + " lost" : "";
  if (attempt.state == AttemptState::kOk) return "<span class=\"pill info\">computed again" + Escaped(lost) + "</span>";
  if (attempt.attempts < 2 || result == of_chunk.end()) return Pill(Mark::kBad, "no result" + lost);
  return Pill(Mark::kGood, "ok on " + names.Of(detail.workers[(*result)->worker].name) + lost);
}

std::string FailuresTable(const PageInput& input, const std::vector<const DetailAttempt*>& failed) {
  const RunDetail& detail = input.detail;
  std::map<ChunkKey, std::vector<const DetailAttempt*>> chunks;
  for (const DetailAttempt& attempt : detail.attempts) {
    if (attempt.attempts > 1) chunks[KeyOf(attempt)].push_back(&attempt);
  }
  HtmlTable table;
  table.caption = "Attempts that failed, were lost, or were repeated";
  table.columns = {{"file, chunk", false}, {PlaceTitle(detail), false}, {"at"}, {"attempt"}, {"status", false},
                   {"outcome", false},     {"error", false, "", true}};
  table.where_all = "crema export --to chunks";
  const WorkerNames names = NamesOfWorkers(input.measurement);
  for (const DetailAttempt* attempt : failed) {
    if (table.rows.size() == input.limits.table_rows) break;
    const std::string& error = detail.errors[attempt->error];
    table.rows.push_back({{ChunkName(detail, *attempt)},
                          {Place(names, detail, *attempt)},
                          At(*attempt),
                          {fmt::format("{} of {}", attempt->attempt, attempt->attempts), attempt->attempt},
                          {std::string(ToString(attempt->state))},
                          {Outcome(names, detail, *attempt, chunks[KeyOf(*attempt)])},
                          {error.empty() ? "–" : Name(error, 120)}});
  }
  table.left_out = failed.size() - table.rows.size() + static_cast<size_t>(detail.failed_left_out);
  return Render(table);
}

std::string ErrorsTable(const RunDetail& detail, const std::vector<const DetailAttempt*>& failed, size_t most_rows) {
  struct Sum {
    int64_t attempts = 0;
    double seconds = 0;
    const DetailAttempt* first = nullptr;
  };
  std::map<uint32_t, Sum> errors;
  for (const DetailAttempt* attempt : failed) {
    if (attempt->state == AttemptState::kOk) continue;
    Sum& sum = errors[attempt->error];
    ++sum.attempts;
    sum.seconds += Seconds(attempt->duration_ns.value_or(0));
    if (sum.first == nullptr) sum.first = attempt;
  }
  std::vector<std::pair<uint32_t, Sum>> order(errors.begin(), errors.end());
  SortLargestFirst(&order, [](const auto& a) { return a.second.attempts; });
  HtmlTable table;
  table.caption = "Failed and lost attempts by error";
  table.sorted_by = "attempts";
  table.columns = {{"error", false, "", true}, {"attempts"}, {"time lost"}, {"first", false}, {"first at"}};
  for (const auto& [error, sum] : order) {
    if (table.rows.size() == most_rows) break;
    const std::string& text = detail.errors[error];
    table.rows.push_back({{text.empty() ? "<span class=\"quiet\">none was recorded</span>" : Name(text, 120)},
                          NumberCell(sum.attempts, ExactCount),
                          NumberCell(sum.seconds, HumanDuration),
                          {ChunkName(detail, *sum.first)},
                          At(*sum.first)});
  }
  table.left_out = order.size() - table.rows.size();
  return Render(table);
}

/// A function on stacks that begin alike. Stacks come sorted, so that each is in the list after what it called from.
struct Flame {
  size_t depth = 0, function = 0;
  int64_t samples = 0, own = 0;
};

std::vector<Flame> FlamesOfPlace(const std::map<std::vector<size_t>, StackWeight>& stacks) {
  std::vector<Flame> flames;
  std::vector<size_t> open;  // of the last stack: indices into `flames`
  const std::vector<size_t>* last = nullptr;
  for (const auto& [functions, weight] : stacks) {
    size_t same = 0;
    while (last != nullptr && same < std::min(last->size(), functions.size()) && (*last)[same] == functions[same]) {
      ++same;
    }
    open.resize(same);
    for (size_t depth = same; depth < functions.size(); ++depth) {
      open.push_back(flames.size());
      flames.push_back({depth, functions[depth], 0, 0});
    }
    for (const size_t flame : open) flames[flame].samples += weight.samples;
    if (!open.empty()) flames[open.back()].own += weight.samples;
    last = &functions;
  }
  return flames;
}

/// Those that have this many samples or more are at most `most`, with the first `ties` of those that have as many.
struct Least {
  int64_t samples = 0;
  size_t ties = 0;
};

Least LeastSamples(const std::vector<std::vector<Flame>>& places, size_t most) {
  std::vector<int64_t> samples;
  for (const std::vector<Flame>& flames : places) {
    for (const Flame& flame : flames) samples.push_back(flame.samples);
  }
  if (samples.size() <= most) return {0, samples.size()};
  absl::c_sort(samples, std::greater<>());
  const int64_t least = samples[most];
  const auto first = absl::c_lower_bound(samples, least, std::greater<>());
  return {least, most - static_cast<size_t>(first - samples.begin())};
}

std::string Cut(std::string_view name) { return CutText(name, 200); }

}  // namespace

PageBlock ChunksBlock(const PageInput& input) {
  PageBlock block = {
      "chunks", "Chunks",
      "A healthy run has one narrow peak. On its right are stragglers, on its left chunks that are too small."};
  block.html = ChartCards(input, block.id, DistributionsFold(input.measurement)) + SlowestCard(input);
  return block;
}

PageBlock FailuresBlock(const PageInput& input) {
  const RunDetail& detail = input.detail;
  PageBlock block = {"failures", "Failures and retries"};
  const std::vector<const DetailAttempt*> failed = PlacesWhere(detail.attempts, [](const DetailAttempt& attempt) {
    const bool is_repeat = attempt.state == AttemptState::kOk && attempt.attempts > 1 && !attempt.is_result;
    return attempt.state == AttemptState::kFailed || attempt.state == AttemptState::kLost || is_repeat;
  });
  if (detail.why_no_attempts.empty() && failed.empty()) {
    block.brief = "<p class=\"quiet\">✓ No attempt failed, was lost or was repeated.</p>";
    return block;
  }
  block.intro = "Every attempt that gave no result, and what became of its chunk.";
  block.html = "<section class=\"card\">";
  if (!detail.why_no_attempts.empty()) {
    block.html += Absent("Single attempts", detail.why_no_attempts);
  } else {
    if (failed.size() > kGroupedFrom) block.html += ErrorsTable(detail, failed, input.limits.table_rows);
    block.html += FailuresTable(input, failed);
  }
  block.html += "</section>\n" + ChartCards(input, block.id);
  return block;
}

Json FlamesOf(const SampledStacks& stacks, size_t most) {
  auto places =
      Mapped<std::vector<Flame>>(stacks.places, [](const auto& place) { return FlamesOfPlace(place.second); });
  Least least = LeastSamples(places, most);

  Json functions = Json::array();
  std::map<size_t, size_t> numbers;  // of functions in the page, by theirs in `stacks`
  const auto number_of = [&](size_t function) {
    const auto [known, is_new] = numbers.try_emplace(function, numbers.size());
    if (is_new) {
      const SampledFunction& named = stacks.functions[function];
      functions.push_back({Cut(named.name), Cut(ShortFunctionName(named.name)),
                           Cut(named.line.has_value() ? fmt::format("{}:{}", named.file, *named.line) : named.file)});
    }
    return known->second;
  };
  Json rows = Json::array();
  int64_t left_out = 0;
  auto flames = places.begin();
  for (const auto& [place, of_place] : stacks.places) {
    const auto samples = SumOf<int64_t>(of_place, [](const auto& of_stack) { return of_stack.second.samples; });
    Json tree = Json::array();
    size_t drawn_depth = 0;  // what is below one that is left out is, too
    for (const Flame& flame : *flames++) {
      const bool is_tie = flame.samples == least.samples && least.ties > 0;
      if (flame.depth > drawn_depth || !(flame.samples > least.samples || is_tie)) {
        ++left_out;
        drawn_depth = std::min(drawn_depth, flame.depth);
        continue;
      }
      if (is_tie) --least.ties;
      drawn_depth = flame.depth + 1;
      tree.push_back({flame.depth, number_of(flame.function), flame.samples, flame.own});
    }
    rows.push_back(
        {{"dataset", place.dataset}, {"section", place.section}, {"samples", samples}, {"tree", std::move(tree)}});
  }
  return {{"functions", std::move(functions)}, {"places", std::move(rows)}, {"left_out", left_out}};
}

}  // namespace crema
