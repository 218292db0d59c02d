// The head of the summary: what ran, when, where, how it ended; and the headline.
#include <optional>
#include <string>

#include "collector/document/document_fields.h"
#include "collector/insight/headline.h"
#include "collector/insight/run_head.h"
#include "collector/writers/display_text.h"
#include "collector/writers/summary_blocks.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// `2026-11-21 14:02:11 – 14:08:28 UTC`.
std::string When(const Json& run) {
  const std::optional<RunTimes> times = TimesOf(run, {"%Y-%m-%d", " "});
  if (!times.has_value()) return "";
  return times->start + (times->stop.empty() ? "" : " – " + times->stop) + " UTC";
}

std::string Command(const Json& run) {
  std::string command;
  for (const Json& argument : ListField(run, "command")) {
    if (argument.is_string()) command += (command.empty() ? "" : " ") + argument.get<std::string>();
  }
  return command;
}

}  // namespace

PaintedText StateText(const Json& document) {
  const StateInWords state = StateOf(document);
  if (state.ending == RunEnding::kUnknown) return {state.text, Paint::kDim};
  if (!state.mark.has_value()) return {state.text, Paint::kPlain};
  const PaintedText sign = MarkSign(*state.mark);
  return {sign.text + " " + state.text, sign.paint};
}

std::string WhenAndOnWhat(const Json& document) {
  const std::string when = When(Field(document, "run")), on_what = OnWhat(document);
  return when + (when.empty() || on_what.empty() ? "" : " · ") + on_what;
}

void AddHead(const Json& document, TerminalBox* box) {
  const Json& run = Field(document, "run");
  box->Open("crema", RunName(document), StateText(document));

  box->Paragraph(WhenAndOnWhat(document), Paint::kDim);
  const std::string command = Command(run);
  if (!command.empty()) box->Line({{"$ " + command, Paint::kDim}});
  box->Line({});
  const std::string headline = TextField(document, "headline");
  box->Paragraph(headline.empty() ? Headline(document) : headline, Paint::kBold);
}

}  // namespace crema
