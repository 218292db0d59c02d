#include "collector/insight/headline.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "collector/insight/budget_rows.h"
#include "collector/insight/document_fields.h"
#include "collector/insight/human_numbers.h"
#include "collector/insight/run_evidence.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// From this share on, CPU in the user's code characterises a run whatever the rest did.
constexpr double kComputeBound = 0.60;

/// A loss below this is not worth a sentence: chunk granularity alone costs as much.
constexpr double kLeastLoss = 0.03;

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
  if (compute >= kComputeBound) {
    return fmt::format("compute-bound: {}{} were CPU in your code", total, HumanPercent(compute));
  }
  const std::array<Use, 5> uses = {{
      {compute, "mixed", "{} were CPU in your code, and nothing else took as much"},
      {cpu_wait + blocked, cpu_wait > blocked ? "short of CPU" : "waiting-bound", "your code waited for {}"},
      {outside, "opening-bound", "opening and reading around your code took {}"},
      {framework, "overhead-bound", "the framework and repeated work took {}"},
      {idle, "mostly idle", "cores were idle for {}"},
  }};
  const Use* most = &uses[0];
  for (const Use& use : uses) {
    if (use.share > most->share) most = &use;
  }
  std::string text =
      fmt::format("{}: {}{}", most->verdict, total, fmt::format(fmt::runtime(most->clause), HumanPercent(most->share)));
  if (most == &uses[1]) text += fmt::format(" and computed for {}", HumanPercent(compute));
  if (most > &uses[1]) text += fmt::format(", and your code computed for {}", HumanPercent(compute));
  return text;
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
  if (largest == nullptr || share < kLeastLoss) {
    return fmt::format("no avoidable loss reaches {}", HumanPercent(kLeastLoss, 0));
  }
  return fmt::format("the largest avoidable loss is {} ({})", largest->text, HumanPercent(share));
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
  return WhereTheTimeWent(*evidence.budget) + "; " + LargestLoss(*evidence.budget);
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
