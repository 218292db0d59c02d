#include "collector/insight/headline.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/budget_rows.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/insight/run_evidence.h"
#include "collector/insight/thresholds.h"
#include "collector/insight/verdict_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct Loss {
  std::string_view part;
  std::string_view text;
};

/// What a budget can hold, but CPU in results and what is not known. What a person calls each of them.
constexpr std::array<Loss, 11> kLosses = {{
    {"cpu_wait", "runnable threads that got no CPU"},
    {"blocked", "code blocked on I/O, locks or a device"},
    {"waiting", "code that waited (the kernel did not tell for what)"},
    {"outside_chunk", "opening and reading around your code"},
    {"framework", "the framework's own tasks"},
    {"failed", "attempts that gave no result"},
    {"joined", "threads that waited for their own helpers"},
    {"startup", "cores that were free before their first chunk"},
    {"idle", "cores that were free between chunks"},
    {"tail", "cores that were free while the last chunks ran"},
    {"shutdown", "cores that were free after the last chunk"},
}};

/// What the core-seconds were used for, and how a person says it.
struct Use {
  double share;
  bool characterises;
  std::string_view verdict;
  std::string_view clause;  ///< `{}`: the share; what follows it is " and computed …"
};

/// "waiting-bound: of 12 057 core-seconds, your code waited for 44 % and computed for 33 %".
std::string WhereTheTimeWent(const BudgetRows& budget) {
  const double compute = budget.Share("compute");
  const double cpu_wait = budget.Share("cpu_wait");
  const double blocked = budget.Share("blocked") + budget.Share("waiting");
  const double outside = budget.Share("outside_chunk");
  const double framework = budget.Share("framework") + budget.Share("failed");
  const double idle = budget.Share("joined") + budget.Share("startup") + budget.Share("idle") + budget.Share("tail") +
                      budget.Share("shutdown");
  const double unmeasured = budget.Share("unmeasured");
  if (unmeasured > std::max({compute, cpu_wait + blocked, outside, framework, idle})) {
    return fmt::format("not judged: of {} core-seconds, {} are of chunks whose CPU time is not known",
                       HumanCount(budget.core_seconds), HumanPercent(unmeasured));
  }
  const std::string total = fmt::format("of {} core-seconds, ", HumanCount(budget.core_seconds));
  if (RuleOf("compute-bound").threshold.Holds(compute)) {
    return fmt::format("compute-bound: {}{} were CPU in your code", total, HumanPercent(compute));
  }
  const double waiting = cpu_wait + blocked;
  const std::array<Use, 4> uses = {{
      {waiting, RuleOf("waiting-bound").threshold.Holds(waiting) || (kWaitsToo.Holds(waiting) && waiting > compute),
       cpu_wait > blocked ? "short of CPU" : "waiting-bound", "your code waited for {}"},
      {idle, kStarved.Holds(idle), "starved", "cores were idle for {}"},
      {framework, kOverheadBound.Holds(framework), "overhead-bound", "the framework and repeated work took {}"},
      {outside, RuleOf("opening-bound").threshold.Holds(outside), "opening-bound",
       "opening and reading around your code took {}"},
  }};
  const Use* most = nullptr;
  for (const Use& use : uses) {
    if (use.characterises && (most == nullptr || use.share > most->share)) most = &use;
  }
  if (most == nullptr) return fmt::format("mixed: {}{} were CPU in your code", total, HumanPercent(compute));
  return fmt::format("{}: {}{}{}computed for {}", most->verdict, total,
                     fmt::format(fmt::runtime(most->clause), HumanPercent(most->share)),
                     most == &uses[0] ? " and " : ", and your code ", HumanPercent(compute));
}

std::string LargestLoss(const BudgetRows& budget) {
  const Loss* largest = nullptr;
  double share = 0;
  for (const Loss& loss : kLosses) {
    if (budget.Share(loss.part) > share) {
      largest = &loss;
      share = budget.Share(loss.part);
    }
  }
  if (largest == nullptr || !kWorthASentence.Holds(share)) {
    return fmt::format("no avoidable loss reaches {}", HumanPercent(kWorthASentence.value, 0));
  }
  return fmt::format("the largest avoidable loss is {} ({})", largest->text, HumanPercent(share));
}

/// Verdicts that name what made a loss, and what a person calls it.
struct Cause {
  std::string_view id;
  std::string_view text;
};

constexpr std::array<Cause, 7> kCauses = {{
    {"slow-worker", "a slow worker cost"},
    {"slow-file", "a slow file cost"},
    {"stragglers", "stragglers cost"},
    {"oversized-chunks", "oversized chunks cost"},
    {"chunks-too-large", "chunks that are too large cost"},
    {"too-few-chunks", "too few chunks cost"},
    {"chunks-too-small", "chunks that are too small cost"},
}};

/// The cause with the largest saving among the document's verdicts; empty where none is worth a clause.
std::string LargestCause(const Json& document) {
  std::string text;
  double largest = 0;
  for (const Json& verdict : ListField(document, "verdicts")) {
    const double saving = NumberField(verdict, "saving").value_or(0);
    if (!kWorthASentence.Holds(saving) || saving < largest) continue;
    for (const Cause& cause : kCauses) {
      if (cause.id != TextField(verdict, "id")) continue;
      largest = saving;
      text = fmt::format("; {} {}", cause.text, HumanPercent(saving));
    }
  }
  return text;
}

/// What must be known before any figure is believed: gaps of the measurement, then chunks without a result.
std::string BeforeAll(const Json& document, const RunEvidence& evidence) {
  if (evidence.state == RunState::kRunning) return "";
  std::string text;
  const Json& quality = Field(document, "quality");
  const std::optional<double> coverage = NumberField(quality, "event_coverage");
  const double dropped = NumberField(quality, "records_dropped").value_or(0);
  const double read = NumberField(quality, "records_read").value_or(0);
  if (coverage.has_value() && MarkOf(KeyFigure::kEventCoverage, *coverage) != Mark::kGood) {
    text = fmt::format("the records hold {} of the events only; ", HumanPercent(*coverage));
  } else if (dropped > 0 && MarkOf(KeyFigure::kDroppedRecords, dropped / (dropped + read)) == Mark::kBad) {
    text = fmt::format("{} lost; ", Counted(dropped, "record was", "records were"));
  }
  const double lost = NumberField(quality, "records_lost").value_or(0);
  if (lost > 0)
    text += fmt::format("the {} lost; ", lost == 1 ? "record of 1 ended chunk is"
                                                   : "records of " + HumanCount(lost) + " ended chunks are");
  const double unfinished = Metric(document, "num_unfinished_chunks").value_or(0);
  if (unfinished > 0) text += Counted(unfinished, "chunk has", "chunks have") + " no result; ";
  return text;
}

std::string HowItEnded(const Json& document, const RunEvidence& evidence) {
  if (evidence.state == RunState::kRunning) return "still running; so far ";
  if (evidence.state == RunState::kKilled) return "killed; until then ";
  const std::optional<double> exit_status = NumberField(Field(document, "run"), "exit_status");
  if (exit_status.value_or(0) == 0) return "";
  return fmt::format("the command failed with exit status {:.0f}; ", *exit_status);
}

/// What is known of a command that recorded no chunk: only what its process tree used.
std::string NoChunk(const Json& document) {
  const std::optional<double> reported = Metric(document, "num_chunks");
  if (reported.value_or(0) > 0) {
    return fmt::format("no chunk was recorded; Coffea reports {} and not where their time went",
                       Counted(*reported, "chunk", "chunks"));
  }
  const std::optional<double> user = Metric(document, "tree_cpu_user");
  const std::optional<double> system = Metric(document, "tree_cpu_system");
  const std::optional<double> efficiency = Metric(document, "job_cpu_efficiency");
  if (!user.has_value() || !system.has_value()) return "no chunk was recorded, so nothing can be said about the work";
  std::string text = fmt::format("no chunk was recorded; the command used {} of CPU", HumanDuration(*user + *system));
  if (efficiency.has_value()) text += fmt::format(", {} of its allocated cores", HumanPercent(*efficiency));
  return text;
}

std::string NoChunkEnded(const RunEvidence& evidence) {
  std::string text = fmt::format("no chunk ended, {} begun", HumanCount(evidence.attempts));
  if (evidence.lost > 0) text += fmt::format(" and {} lost with their process", HumanCount(evidence.lost));
  return text;
}

std::string TooLittle(const Json& document, const RunEvidence& evidence) {
  if (!evidence.budget.has_value()) {
    return fmt::format("too little was measured to judge ({})", WhyNotMeasured(document, "core_seconds"));
  }
  return fmt::format("too little was measured to judge: {} ended in {} core-seconds, {} of them CPU in your code",
                     Counted(evidence.ended, "chunk", "chunks"), HumanCount(evidence.budget->core_seconds),
                     HumanPercent(evidence.budget->Share("compute")));
}

std::string Finding(const Json& document, const RunEvidence& evidence) {
  if (evidence.attempts == 0 && evidence.ended == 0) return NoChunk(document);
  if (evidence.ended == 0) return NoChunkEnded(evidence);
  if (!evidence.IsEnough()) return TooLittle(document, evidence);
  return BeforeAll(document, evidence) + WhereTheTimeWent(*evidence.budget) + "; " + LargestLoss(*evidence.budget) +
         LargestCause(document);
}

std::string AsSentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

}  // namespace

std::string Headline(const Json& document) {
  const RunEvidence evidence = ReadRunEvidence(document);
  return AsSentence(HowItEnded(document, evidence) + Finding(document, evidence));
}

}  // namespace crema
