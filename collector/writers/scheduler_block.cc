#include "collector/writers/scheduler_block.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/writers/display_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

std::string CountOf(const LiveScheduler& scheduler, const char* name) {
  const std::optional<int64_t> count = scheduler.count(name);
  return count.has_value() ? HumanCount(static_cast<double>(*count)) : "–";
}

std::string State(const LiveScheduler& scheduler) {
  return fmt::format("{} workers, {} cores · {} tasks: {} at workers, {} wait, {} failed",
                     CountOf(scheduler, "workers"), CountOf(scheduler, "cores"), CountOf(scheduler, "tasks"),
                     CountOf(scheduler, "processing"), CountOf(scheduler, "waiting"), CountOf(scheduler, "erred"));
}

std::string FinishedTasks(const LiveScheduler& scheduler, int64_t second) {
  if (!scheduler.finished().has_value()) return "finished tasks are not known";
  const std::optional<double> rate = scheduler.finished_rate(second);
  return fmt::format("{} finished ({})", HumanCount(static_cast<double>(*scheduler.finished())),
                     rate.has_value() ? HumanRate(*rate) : "at present not known");
}

using TasksOfPrefix = std::pair<std::string, SchedulerTasks>;

std::vector<TasksOfPrefix> MostFinished(const LiveScheduler& scheduler, size_t most) {
  std::vector<TasksOfPrefix> rows(scheduler.tasks().begin(), scheduler.tasks().end());
  std::stable_sort(rows.begin(), rows.end(), [](const TasksOfPrefix& a, const TasksOfPrefix& b) {
    return a.second.finished > b.second.finished;
  });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace

int AddSchedulers(const LiveModel& model, int prefixes, TerminalBox* box) {
  int lines = 0;
  const TerminalStyle& style = box->style();
  for (const auto& [address, scheduler] : model.schedulers()) {
    box->Rule(address);
    box->Line({{State(scheduler)}});
    box->Line({{FinishedTasks(scheduler, model.second()), Paint::kBold}});
    lines += 3;
    for (const auto& [prefix, tasks] : MostFinished(scheduler, static_cast<size_t>(std::max(0, prefixes)))) {
      const std::string finished =
          scheduler.finished().has_value() ? HumanCount(static_cast<double>(tasks.finished)) : "–";
      PaintedLine line = {{Pad(CutFront(prefix, 30, style), 30, Align::kLeft, style)},
                          {Pad(finished, 9, Align::kRight, style)},
                          {" finished"}};
      if (tasks.finished > 0) line.push_back({fmt::format(" · {} computed", HumanDuration(tasks.compute_seconds))});
      if (tasks.compute_seconds_in_all.has_value()) {
        line.push_back({fmt::format(" · {} in all", HumanDuration(*tasks.compute_seconds_in_all)), Paint::kDim});
      }
      box->Line(line);
      ++lines;
    }
  }
  return lines;
}

std::string SchedulersInOneLine(const LiveModel& model) {
  std::string text;
  for (const auto& [address, scheduler] : model.schedulers()) {
    if (!text.empty()) text += " | ";
    text += State(scheduler) + " · " + FinishedTasks(scheduler, model.second());
  }
  return text;
}

}  // namespace crema
