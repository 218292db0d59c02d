#include "log/engine_identity.h"

#include <stdlib.h>

#include <algorithm>

#include "kernel/proc_file.h"

namespace crema::internal {
namespace {

// What engines call a megabyte of memory.
constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
constexpr std::size_t kMostAdBytes = std::size_t{1} << 16;

/// Empty where the variable is not set.
std::string_view Variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// A number of at least `least`; nullopt where the text is anything else.
std::optional<std::int64_t> WholeNumber(std::string_view text, std::int64_t least) {
  const bool is_whole = text.size() <= 18 && text.find_first_not_of("0123456789") == std::string_view::npos;
  const std::optional<std::int64_t> value = is_whole ? LeadingInteger(text) : std::nullopt;
  return value >= least ? value : std::nullopt;
}

std::optional<std::int64_t> Megabytes(std::optional<std::int64_t> count) {
  constexpr std::int64_t kMost = INT64_MAX / kMegabyte;
  return count.has_value() && *count <= kMost ? std::optional<std::int64_t>(*count * kMegabyte) : std::nullopt;
}

/// The number of the innermost directory of this name and a number, `task.14`; empty: there is none.
std::string_view NumberOfDirectory(std::string_view path, std::string_view name) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string_view last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    const std::string_view number = last.substr(std::min(name.size(), last.size()));
    if (last.substr(0, name.size()) == name && WholeNumber(number, 0).has_value()) return number;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
  return {};
}

std::string_view FirstOf(std::string_view first, std::string_view second) { return first.empty() ? second : first; }

/// TaskVine and Work Queue give a task a directory of its own. The user's CORES alone says nothing.
bool FindTask(std::string_view working_directory, EngineIdentity* engine) {
  const std::string_view vine = Variable("VINE_SANDBOX");
  const std::string_view queue = Variable("WORK_QUEUE_SANDBOX");
  const bool has_sandbox = !vine.empty() || !queue.empty();
  if (!has_sandbox && Variable("WORKER_TMPDIR").empty() && Variable("CORES").empty()) return false;
  const std::string_view sandbox = FirstOf(FirstOf(vine, queue), working_directory);
  const std::string_view task = NumberOfDirectory(sandbox, "task.");
  const std::string_view old_task = NumberOfDirectory(sandbox, "t.");
  if (!has_sandbox && task.empty() && old_task.empty()) return false;
  const bool is_vine = !vine.empty() || (queue.empty() && !task.empty());
  engine->name = FixedText<16>(is_vine ? "taskvine" : "work_queue");
  engine->job = FixedText<256>(FirstOf(task, old_task));
  engine->cpus = WholeNumber(Variable("CORES"), 1);
  engine->memory_bytes = Megabytes(WholeNumber(Variable("MEMORY"), 1));
  return true;
}

/// What follows `name = ` at the begin of a line of a ClassAd.
std::string_view Attribute(std::string_view ad, std::string_view name) {
  while (!ad.empty()) {
    std::string_view line = ad.substr(0, ad.find('\n'));
    ad.remove_prefix(std::min(line.size() + 1, ad.size()));
    if (line.substr(0, name.size()) != name) continue;
    line.remove_prefix(name.size());
    if (line.substr(0, 3) == " = ") return line.substr(3);
  }
  return {};
}

bool FindCondor(EngineIdentity* engine) {
  const std::string_view slot = Variable("_CONDOR_SLOT");
  const char* const job_ad = secure_getenv("_CONDOR_JOB_AD");
  if (slot.empty() && job_ad == nullptr) return false;
  engine->name = FixedText<16>("htcondor");
  engine->slot = FixedText<256>(slot);
  const FileText job(job_ad == nullptr ? "" : job_ad, kMostAdBytes);
  const std::string_view cluster = Attribute(job.view(), "ClusterId");
  if (const std::string_view process = Attribute(job.view(), "ProcId"); !cluster.empty() && !process.empty()) {
    engine->job.Append(cluster);
    engine->job.Append(".");
    engine->job.Append(process);
  }
  const char* const machine_ad = secure_getenv("_CONDOR_MACHINE_AD");
  const FileText machine(machine_ad == nullptr ? "" : machine_ad, kMostAdBytes);
  engine->cpus = WholeNumber(Attribute(machine.view(), "Cpus"), 1);
  engine->memory_bytes = Megabytes(WholeNumber(Attribute(machine.view(), "Memory"), 1));
  return true;
}

bool FindSlurm(EngineIdentity* engine) {
  const std::string_view job = Variable("SLURM_JOB_ID");
  if (job.empty()) return false;
  engine->name = FixedText<16>("slurm");
  engine->job = FixedText<256>(job);
  engine->step = FixedText<256>(Variable("SLURM_STEP_ID"));
  engine->cpus = WholeNumber(Variable("SLURM_CPUS_PER_TASK"), 1);
  engine->memory_bytes = Megabytes(WholeNumber(Variable("SLURM_MEM_PER_NODE"), 1));  // 0 is all that the node has
  return true;
}

/// The launcher inside a step counts its own ranks.
std::optional<std::int64_t> Rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const auto rank = WholeNumber(Variable(name), 0)) return rank;
  }
  return std::nullopt;
}

}  // namespace

EngineIdentity FindEngine(std::string_view working_directory) noexcept {
  EngineIdentity engine;
  if (FindTask(working_directory, &engine)) return engine;
  const bool is_batch = FindCondor(&engine) || FindSlurm(&engine);
  const std::optional<std::int64_t> rank = Rank();
  if (!is_batch && rank.has_value()) engine.name = FixedText<16>("mpi");
  if (!engine.name.empty()) engine.rank = rank;
  return engine;
}

}  // namespace crema::internal
