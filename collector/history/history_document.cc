// What a history says, to people and to programs.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "collector/appearance/human_numbers.h"
#include "collector/history/run_history.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "crema.history/1";
constexpr int kSchemaMinor = 0;
constexpr size_t kShownHash = 12;
constexpr size_t kMostCommitsTold = 5;

std::string Date(int64_t unix_ns, const char* format) {
  return absl::FormatTime(format, absl::FromUnixNanos(unix_ns), absl::UTCTimeZone());
}

std::string ShortCommit(const std::string& commit) {
  const bool is_hash = std::all_of(commit.begin(), commit.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  return is_hash ? commit.substr(0, kShownHash) : commit;
}

/// Which commits may have begun a level; each once, in order.
std::vector<std::string> CommitsOf(const RunHistory& history, const Segment& place) {
  std::vector<std::string> commits;
  for (size_t i = place.earliest; i <= place.latest; ++i) {
    const std::string& commit = history.runs[i].commit;
    if (!commit.empty() && std::find(commits.begin(), commits.end(), commit) == commits.end()) {
      commits.push_back(commit);
    }
  }
  return commits;
}

bool IsOneCommit(const RunHistory& history, const Segment& place) {
  const std::string& before = history.runs[place.earliest - 1].commit;
  const std::vector<std::string> commits = CommitsOf(history, place);
  return !before.empty() && commits.size() == 1 && commits.front() == before;
}

std::string WhoBegan(const RunHistory& history, const Segment& place) {
  const std::string& commit = history.runs[place.begin].commit;
  const std::string& before = history.runs[place.begin - 1].commit;
  if (commit.empty()) return "The run does not tell its commit.";
  if (IsOneCommit(history, place)) {
    return fmt::format("The commit {} is that of the run before: the code did not change.", ShortCommit(commit));
  }
  std::string text = fmt::format("First with the commit {}", ShortCommit(commit));
  if (!before.empty()) text += fmt::format(" (before: {})", ShortCommit(before));
  const std::vector<std::string> commits = CommitsOf(history, place);
  if (place.latest > place.earliest) {
    std::vector<std::string> shown;
    for (const std::string& one : commits) {
      if (shown.size() < kMostCommitsTold) shown.push_back(ShortCommit(one));
    }
    if (commits.size() > shown.size()) shown.emplace_back("…");
    text += fmt::format("; because of the noise it may be any of {} runs, of {}", place.latest - place.earliest + 1,
                        absl::StrJoin(shown, ", "));
  }
  return text + ".";
}

std::string Size(const RunHistory& history, double change) {
  if (history.is_relative) return HumanPercent(std::fabs(change), 1);
  return HumanQuantity(history.metric, std::fabs(change), history.unit);
}

std::string Signed(const RunHistory& history, double change) {
  if (history.is_relative) return HumanChange(change);
  return (change < 0 ? "-" : "+") + Size(history, change);
}

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json RunRow(const RunHistory& history, size_t i) {
  const HistoryRun& run = history.runs[i];
  Json row = {{"directory", run.directory},
              {"id", OrNull(run.id)},
              {"start", Date(run.start_ns, "%Y-%m-%dT%H:%M:%E3SZ")},
              {"start_ns", run.start_ns},
              {"commit", OrNull(run.commit)},
              {"value", history.ValueOf(i)},
              {"level", nullptr}};
  for (size_t k = 0; k < history.levels.size(); ++k) {
    if (i >= history.levels[k].place.begin && i < history.levels[k].place.end) row["level"] = k;
  }
  return row;
}

Json ChangeRow(const RunHistory& history, size_t i) {
  const HistoryLevel& level = history.levels[i];
  const HistoryRun& first = history.runs[level.place.begin];
  const LevelChange& change = level.since_before;
  Json row = {{"run", level.place.begin},
              {"earliest", level.place.earliest},
              {"latest", level.place.latest},
              {"directory", first.directory},
              {"start", Date(first.start_ns, "%Y-%m-%dT%H:%M:%E3SZ")},
              {"commit", OrNull(first.commit)},
              {"commit_before", OrNull(history.runs[level.place.begin - 1].commit)},
              {"commits", CommitsOf(history, level.place)},
              {"from", history.levels[i - 1].value},
              {"to", level.value},
              {"change", change.change},
              {"low", change.low},
              {"high", change.high},
              {"worse", nullptr},
              {"also", level.also}};
  if (history.more_is_worse.has_value()) row["worse"] = (change.change > 0) == *history.more_is_worse;
  return row;
}

}  // namespace

std::vector<std::string> HistorySentences(const RunHistory& history) {
  std::vector<std::string> sentences;
  if (history.levels.empty()) return sentences;
  const std::string runs = Counted(static_cast<double>(history.runs.size()), "run", "runs");
  if (history.levels.size() == 1) {
    const double seen = history.is_relative ? std::expm1(history.points.seen) : history.points.seen;
    sentences.push_back(fmt::format("{} did not change in {}. A change of {} that lasts {} runs would be seen.",
                                    history.metric, runs, Size(history, seen), kSeenFor));
    return sentences;
  }
  for (size_t i = history.levels.size() - 1; i > 0; --i) {
    const HistoryLevel& level = history.levels[i];
    const LevelChange& change = level.since_before;
    const bool is_up = change.change > 0;
    std::string text = fmt::format(
        "Since {} UTC ({}) {} is {} {} ({} to {}): {} instead of {}. {}",
        Date(history.runs[level.place.begin].start_ns, "%Y-%m-%d %H:%M"), history.runs[level.place.begin].directory,
        history.metric, Size(history, change.change), is_up ? "higher" : "lower", Signed(history, change.low),
        Signed(history, change.high), HumanQuantity(history.metric, level.value, history.unit),
        HumanQuantity(history.metric, history.levels[i - 1].value, history.unit), WhoBegan(history, level.place));
    if (!level.also.empty()) text += " Also new: " + absl::StrJoin(level.also, "; ") + ".";
    sentences.push_back(std::move(text));
  }
  return sentences;
}

Json HistoryAsJson(const RunHistory& history) {
  Json document;
  document["schema"] = kSchema;
  document["schema_minor"] = kSchemaMinor;
  document["name"] = OrNull(history.name);
  document["metric"] = history.metric;
  document["unit"] = history.unit;
  document["method"] = "pelt";
  document["relative"] = history.is_relative;
  document["noise"] = history.levels.empty() ? Json() : Json(history.points.noise);
  document["seen"] = history.levels.empty()
                         ? Json()
                         : Json(history.is_relative ? std::expm1(history.points.seen) : history.points.seen);
  document["sentences"] = HistorySentences(history);
  document["runs"] = Json::array();
  for (size_t i = 0; i < history.runs.size(); ++i) document["runs"].push_back(RunRow(history, i));
  document["levels"] = Json::array();
  for (const HistoryLevel& level : history.levels) {
    document["levels"].push_back({{"first", level.place.begin}, {"runs", level.place.size()}, {"value", level.value}});
  }
  document["changes"] = Json::array();
  for (size_t i = 1; i < history.levels.size(); ++i) document["changes"].push_back(ChangeRow(history, i));
  document["notes"] = history.notes;
  document["left_out"] = Json::array();
  for (const LeftOutOfHistory& one : history.left_out) {
    document["left_out"].push_back({{"directory", one.directory}, {"reason", one.reason}});
  }
  return document;
}

}  // namespace crema
