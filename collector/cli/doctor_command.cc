// `crema doctor`: what this machine allows, what a guard costs here, what is missing.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "collector/cli/doctor_checks.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/run_session.h"
#include "collector/cli/subcommand.h"
#include "collector/records/loose_json.h"
#include "crema/crema.h"
#include "crema/version.h"
#include "fmt/format.h"

namespace crema {
namespace {

// What the SDK's guards cost on this machine: measured, here and now.

/// Nanoseconds a call, the best of three rounds: what other work on the machine adds is not the guard's.
struct GuardCost {
  double clock_ns = 0;        ///< one read of CLOCK_MONOTONIC, for comparison
  double off_ns = 0;          ///< a section while nothing records
  double section_ns = 0;      ///< a section in a chunk
  double section_cpu_ns = 0;  ///< a section with its CPU time
  double memory_ns = 0;       ///< a memory guard
  double chunk_ns = 0;        ///< a chunk with nothing in it, its two lines in the log included
};

constexpr int kRounds = 3;
constexpr int64_t kFast = 1'000'000;  // calls of what takes nanoseconds
constexpr int64_t kSlow = 20'000;     // calls of what makes system calls

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

template <class Call>
double BestNsPerCall(int64_t calls, Call call) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const int64_t start_ns = NowNs();
    for (int64_t i = 0; i < calls; ++i) call();
    best = std::min(best, static_cast<double>(NowNs() - start_ns) / static_cast<double>(calls));
  }
  return best;
}

void Section() { TrackSection section("doctor"); }
void SectionWithCpu() { TrackSection section("doctor_cpu", kCpuTime); }
void Memory() { TrackMemory memory("doctor"); }
void WholeChunk() { TrackMetrics chunk("doctor"); }

GuardCost MeasureInto(const std::string& directory, bool* recorded) {
  GuardCost cost;
  cost.clock_ns = BestNsPerCall(kFast, [] { NowNs(); });
  cost.off_ns = BestNsPerCall(kFast, Section);
  Options options;
  options.directory = directory;
  options.interval_seconds = 0;
  *recorded = Enable(options);
  if (!*recorded) return cost;
  {
    TrackMetrics chunk("doctor");
    cost.section_ns = BestNsPerCall(kFast, Section);
    cost.section_cpu_ns = BestNsPerCall(kSlow, SectionWithCpu);
    cost.memory_ns = BestNsPerCall(kSlow, Memory);
  }
  cost.chunk_ns = BestNsPerCall(kSlow, WholeChunk);
  Disable();
  return cost;
}

/// Records into a temporary directory, which it removes. nullopt where recording cannot be had (CREMA_OFF=1, no
/// temporary directory). To be called in a process that records nothing else.
std::optional<GuardCost> MeasureGuardCost() {
  // Else the first guard would begin to record there.
  unsetenv("CREMA_DIR");
  const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
  if (!directory.ok()) return std::nullopt;
  bool recorded = false;
  const GuardCost cost = MeasureInto((*directory)->path(), &recorded);
  if (!recorded) return std::nullopt;
  return cost;
}

using Json = nlohmann::ordered_json;

constexpr char kNoCost[] = "not measured: recording cannot be turned on (CREMA_OFF=1, or no temporary directory)";
constexpr int kLabelColumns = 18;

struct CheckMark {
  const char* word;   ///< also the `state` in JSON
  const char* sign;   ///< in UTF-8
  const char* plain;  ///< in ASCII
  const char* color;  ///< ANSI
};

const CheckMark& MarkOf(CheckState state) {
  static constexpr CheckMark kMarks[] = {
      {"good", "✓", "OK  ", "32"}, {"limited", "▲", "WARN", "33"}, {"missing", "✕", "BAD ", "31"}};
  return kMarks[static_cast<int>(state)];
}

std::string Colored(const std::string& text, const char* color, const TerminalStyle& style) {
  return style.color ? absl::StrCat("\x1b[", color, "m", text, "\x1b[0m") : text;
}

std::string AsText(const std::vector<DoctorCheck>& checks, const std::optional<GuardCost>& cost,
                   const TerminalStyle& style) {
  std::string text = absl::StrCat("crema ", CREMA_VERSION_STRING, " on ", HostName(), "\n\n");
  for (const DoctorCheck& check : checks) {
    const CheckMark& mark = MarkOf(check.state);
    text += fmt::format("{} {:<{}} {}\n", Colored(style.ascii ? mark.plain : mark.sign, mark.color, style), check.label,
                        kLabelColumns, check.text);
    if (!check.remedy.empty()) {
      text += fmt::format("{:{}}{} {}\n", "", kLabelColumns + (style.ascii ? 6 : 3), style.ascii ? "->" : "→",
                          check.remedy);
    }
  }
  text += "\nWhat a guard costs here\n";
  if (!cost.has_value()) return absl::StrCat(text, "  ", kNoCost, "\n");
  const auto line = [&text](const char* label, double nanoseconds) {
    text += fmt::format("  {:<28} {:9.1f} ns\n", label, nanoseconds);
  };
  line("section, recording off", cost->off_ns);
  line("section", cost->section_ns);
  line("section with CPU time", cost->section_cpu_ns);
  line("memory guard", cost->memory_ns);
  line("chunk, with its two writes", cost->chunk_ns);
  line("(one read of the clock)", cost->clock_ns);
  return text;
}

Json AsJson(const std::vector<DoctorCheck>& checks, const std::optional<GuardCost>& cost) {
  Json document = {{"schema", "crema.doctor/1"}, {"version", CREMA_VERSION_STRING}, {"host", HostName()}};
  document["checks"] = Json::array();
  for (const DoctorCheck& check : checks) {
    document["checks"].push_back({{"id", check.id},
                                  {"label", check.label},
                                  {"state", MarkOf(check.state).word},
                                  {"value", check.value},
                                  {"text", check.text},
                                  {"remedy", check.remedy.empty() ? Json(nullptr) : Json(check.remedy)}});
  }
  document["guard_cost_ns"] = nullptr;
  if (cost.has_value()) {
    document["guard_cost_ns"] = {
        {"off", cost->off_ns},       {"section", cost->section_ns}, {"section_cpu", cost->section_cpu_ns},
        {"memory", cost->memory_ns}, {"chunk", cost->chunk_ns},     {"clock_read", cost->clock_ns}};
  }
  return document;
}

struct DoctorOptions {
  bool json = false;
  OutputOptions output;
};

int Examine(const DoctorOptions& options) {
  const std::vector<DoctorCheck> checks = CheckMachine();
  const std::optional<GuardCost> cost = MeasureGuardCost();
  if (options.json) return PrintOut(JsonText(AsJson(checks, cost), 1) + "\n");
  std::vector<DoctorCheck> shown;
  for (const DoctorCheck& check : checks) {
    if (!options.output.quiet || check.state != CheckState::kGood) shown.push_back(check);
  }
  return PrintOut(AsText(shown, cost, StyleFor(STDOUT_FILENO, options.output)));
}

}  // namespace

void AddDoctorCommand(CLI::App* program, int* status) {
  CLI::App* doctor =
      program->add_subcommand("doctor", "Say what crema can measure on this machine, and what a guard costs on it");
  doctor->footer("Example:\n  crema doctor\n  crema doctor --json");
  auto options = std::make_shared<DoctorOptions>();
  doctor->add_flag("--json", options->json, "Print JSON");
  AddOutputOptions(doctor, &options->output);
  doctor->callback([options, status] { *status = Examine(*options); });
}

}  // namespace crema
