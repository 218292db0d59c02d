// The head of the summary: what ran, when, where, how it ended; and the headline.
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "collector/insight/document_fields.h"
#include "collector/insight/headline.h"
#include "collector/insight/human_numbers.h"
#include "collector/writers/display_text.h"
#include "collector/writers/summary_blocks.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

PaintedText StateText(const Json& run) {
  const std::string state = TextField(run, "state");
  const double exit_status = NumberField(run, "exit_status").value_or(0);
  if (state == "killed") return {"✕ killed", Paint::kBad};
  if (state == "running") return {"▲ running", Paint::kWatch};
  if (exit_status != 0) return {fmt::format("✕ exit status {:.0f}", exit_status), Paint::kBad};
  if (state == "finished") return {"✓ finished", Paint::kGood};
  return {"state unknown", Paint::kDim};
}

std::string UtcTime(double unix_ns, const char* format) {
  return absl::FormatTime(format, absl::UnixEpoch() + absl::Nanoseconds(unix_ns), absl::UTCTimeZone());
}

/// `2026-11-21 14:02:11 – 14:08:28 UTC`.
std::string When(const Json& run) {
  const std::optional<double> start = NumberField(run, "start_ns");
  const std::optional<double> stop = NumberField(run, "stop_ns");
  if (!start.has_value()) return "";
  const std::string day = UtcTime(*start, "%Y-%m-%d");
  std::string text = day + " " + UtcTime(*start, "%H:%M:%S");
  if (stop.has_value() && TextField(run, "state") != "running") {
    const bool same_day = UtcTime(*stop, "%Y-%m-%d") == day;
    text += " – " + UtcTime(*stop, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S");
  }
  return text + " UTC";
}

/// `8 workers × 4 cores on 2 hosts`.
std::string OnWhat(const Json& document) {
  const std::optional<double> workers = Metric(document, "peak_workers");
  const std::optional<double> cores = Metric(document, "cores_per_worker");
  if (!workers.has_value()) return "";
  std::string text = Counted(*workers, "worker", "workers");
  if (cores.has_value()) text += fmt::format(" × {}", Counted(*cores, "core", "cores"));
  const size_t hosts = ListField(document, "hosts").size();
  if (hosts > 0) text += fmt::format(" on {}", Counted(static_cast<double>(hosts), "host", "hosts"));
  return text;
}

std::string Command(const Json& run) {
  std::string command;
  for (const Json& argument : ListField(run, "command")) {
    if (argument.is_string()) command += (command.empty() ? "" : " ") + argument.get<std::string>();
  }
  return command;
}

}  // namespace

void AddHead(const Json& document, TerminalBox* box) {
  const Json& run = Field(document, "run");
  std::string name = TextField(run, "name");
  if (name.empty()) name = TextField(run, "id");
  box->Open("crema", name.empty() ? "unnamed run" : name, StateText(run));

  std::string facts = When(run);
  const std::string on_what = OnWhat(document);
  if (!on_what.empty()) facts += (facts.empty() ? "" : " · ") + on_what;
  box->Paragraph(facts, Paint::kDim);
  const std::string command = Command(run);
  if (!command.empty()) box->Line({{"$ " + command, Paint::kDim}});
  box->Line({});
  const std::string headline = TextField(document, "headline");
  box->Paragraph(headline.empty() ? Headline(document) : headline, Paint::kBold);
}

}  // namespace crema
