// The head of the summary: what ran, when, where, how it ended; and the headline.
#include <optional>
#include <string>

#include "absl/strings/str_join.h"
#include "collector/insight/headline.h"
#include "collector/insight/run_head.h"
#include "collector/writers/display_text.h"
#include "collector/writers/summary_blocks.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// `2026-11-21 14:02:11 – 14:08:28 UTC`.
std::string When(const RunFacts& run) {
  const std::optional<RunTimes> times = TimesOf(run, {"%Y-%m-%d", " "});
  if (!times.has_value()) return "";
  return times->start + (times->stop.empty() ? "" : " – " + times->stop) + " UTC";
}

}  // namespace

PaintedText StateText(const Measurement& measurement) {
  const StateInWords state = StateOf(measurement);
  if (state.ending == RunEnding::kUnknown) return {state.text, Paint::kDim};
  if (!state.mark.has_value()) return {state.text, Paint::kPlain};
  const PaintedText sign = MarkSign(*state.mark);
  return {sign.text + " " + state.text, sign.paint};
}

std::string WhenAndOnWhat(const Measurement& measurement) {
  const std::string when = When(measurement.run), on_what = OnWhat(measurement);
  return when + (when.empty() || on_what.empty() ? "" : " · ") + on_what;
}

void AddHead(const Measurement& measurement, TerminalBox* box) {
  box->Open("crema", RunName(measurement), StateText(measurement));

  box->Paragraph(WhenAndOnWhat(measurement), Paint::kDim);
  const std::string command = measurement.run.command.has_value() ? absl::StrJoin(*measurement.run.command, " ") : "";
  if (!command.empty()) box->Line({{"$ " + command, Paint::kDim}});
  box->Line({});
  const Text& headline = measurement.headline;
  box->Paragraph(headline.empty() ? Headline(measurement) : headline.str(), Paint::kBold);
}

}  // namespace crema
