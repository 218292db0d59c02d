// The parts of the core-second budget: names, groups, colours, and the texts that describe them.
#pragma once

#include <string_view>

#include "collector/idioms/sequences.h"

namespace crema {

struct BudgetGroupKind {
  std::string_view group;   ///< as the document's `budget` names it
  std::string_view colour;  ///< of the colour table
  std::string_view what;    ///< in a few words
};

struct BudgetPartKind {
  std::string_view part;  ///< as the document's `budget` names it
  std::string_view group;
  std::string_view name;     ///< short, below its group
  std::string_view loss;     ///< as a loss, in a sentence; empty for what is none
  std::string_view meaning;  ///< its definition
};

/// In the order in which they are shown.
inline constexpr BudgetGroupKind kBudgetGroups[] = {
    {"CPU in your code", "cpu", "computing"},
    {"Waiting in your code", "wait", "reads, locks, page faults, waiting for a CPU"},
    {"Opening and reading around your code", "opening", "tasks outside their chunks; also code without guards"},
    {"CPU outside chunks", "outside", "set-up, framework code, merging"},
    {"Waiting outside chunks", "wait", "ready to run, and no CPU: set-up, framework code, merging"},
    {"Framework and repeats", "overhead", "scheduling, transfer, attempts that gave no result"},
    {"Idle", "idle", "no chunk to work on"},
    {"Not measured", "unknown", "what these cores did is not known"},
};

/// In the document's order, group by group.
inline constexpr BudgetPartKind kBudgetParts[] = {
    {"compute", "CPU in your code", "CPU", "",
     "CPU of results: owners (clipped to the duration), helpers, threads without guards and child processes"},
    {"cpu_wait", "Waiting in your code", "waiting for a CPU", "runnable threads that got no CPU",
     "ready to run without a CPU (run delay), clipped to what CPU leaves"},
    {"blocked", "Waiting in your code", "blocked", "code that was blocked",
     "I/O, locks, the GIL, a GPU, sleep: what CPU, run delay and joining leave. The table `waits` divides it"},
    {"gpu_wait", "Waiting in your code", "waiting for the GPU", "code that waited for the GPU",
     "inside CUDA's synchronisations and copies, whether the thread spun (else in `compute`) or was blocked (else in "
     "`blocked`); only with `crema run --gpu`"},
    {"waiting", "Waiting in your code", "waiting, the kernel does not report for what",
     "code that waited (the kernel does not report for what)",
     "`cpu_wait` and `blocked` together, where the kernel does not report the run delay"},
    {"outside_chunk", "Opening and reading around your code", "around the chunks", "time of tasks around your chunks",
     "compute of chunk tasks outside their chunk"},
    {"process_cpu", "CPU outside chunks", "CPU outside chunks", "CPU outside chunks (set-up, framework code, merging)",
     "CPU of the workers' processes that no chunk and no task took: set-up, framework code, merging. It fills free "
     "lanes, at most all of them; only where the CPU time of a worker's process is known"},
    {"process_cpu_wait", "Waiting outside chunks", "waiting for a CPU outside chunks",
     "processes that waited for a CPU outside chunks",
     "run delay of the workers' processes that no chunk had. It fills free lanes after `process_cpu`, at most all of "
     "them; only where there is some"},
    {"framework", "Framework and repeats", "the framework's own tasks", "the framework's own tasks",
     "other tasks, and execution outside tasks"},
    {"failed", "Framework and repeats", "failed, lost and repeated attempts", "attempts that gave no result",
     "lane time of attempts without a result: failed, repeated, lost"},
    {"joined", "Idle", "owners waiting for their helpers",
     "cores that the run did not use while chunks waited for threads of theirs",
     "free while owners waited for their own helpers, for threads without guards, or for child processes"},
    {"unused_by_tasks", "Idle", "given to tasks that did not use them", "cores that tasks were given and did not use",
     "free while a task held them beside those that it used; only where an engine gave a task more than one core"},
    {"startup", "Idle", "before the first chunk", "cores that were free before their first chunk",
     "free before a worker's first chunk begins"},
    {"idle", "Idle", "between chunks", "cores that were free between chunks", "free between"},
    {"tail", "Idle", "while the last chunks ran", "cores that were free while the last chunks ran",
     "free from the last moment at which 90 % of the live cores were occupied to the last chunk's stop"},
    {"shutdown", "Idle", "after the last chunk", "cores that were free after the last chunk",
     "free after the last chunk's stop"},
    {"unmeasured_cpu", "Not measured", "CPU of jobs without records", "",
     "CPU of jobs without records, as their batch system counted it; only where it did"},
    {"unmeasured", "Not measured", "not measured", "",
     "lanes of attempts still open, or whose record is lost, or whose CPU time is not known; jobs and tasks without "
     "records, without the CPU above; only where there are"},
};

/// nullptr for a part that this version does not know.
constexpr const BudgetPartKind* FindBudgetPart(std::string_view part) {
  return FindBy(kBudgetParts, &BudgetPartKind::part, part);
}

/// nullptr for a group that this version does not know.
constexpr const BudgetGroupKind* FindBudgetGroup(std::string_view group) {
  return FindBy(kBudgetGroups, &BudgetGroupKind::group, group);
}

}  // namespace crema
