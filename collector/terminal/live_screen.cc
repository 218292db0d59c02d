#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_sources.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

// What managers of TaskVine and Work Queue report, in the terminal.

std::string CountOf(const LiveScheduler& scheduler, const char* name) {
  const std::optional<int64_t> count = scheduler.count(name);
  return count.has_value() ? HumanCount(*count) : "–";
}

std::string State(const LiveScheduler& scheduler) {
  return fmt::format("{} workers, {} cores · {} tasks: {} at workers, {} wait, {} failed",
                     CountOf(scheduler, "workers"), CountOf(scheduler, "cores"), CountOf(scheduler, "tasks"),
                     CountOf(scheduler, "processing"), CountOf(scheduler, "waiting"), CountOf(scheduler, "erred"));
}

std::string FinishedTasks(const LiveScheduler& scheduler, int64_t second) {
  if (!scheduler.finished().has_value()) return "finished tasks are not known";
  const std::optional<double> rate = scheduler.finished_rate(second);
  return fmt::format("{} finished ({})", HumanCount(*scheduler.finished()),
                     rate.has_value() ? HumanRate(*rate) : "at present not known");
}

/// A block for each of them: its state, its finished tasks, and of `prefixes` kinds of tasks those that have finished
/// most. How many lines it took.
int AddSchedulers(const LiveModel& model, int prefixes, TerminalBox* box) {
  int lines = 0;
  const TerminalStyle& style = box->style();
  for (const auto& [address, scheduler] : model.schedulers()) {
    box->Rule(address);
    box->Line({{State(scheduler)}});
    box->Line({{FinishedTasks(scheduler, model.second()), Paint::kBold}});
    lines += 3;
    const auto measure = [](const SchedulerTasks& tasks) { return tasks.finished; };
    for (const auto& [prefix, tasks] : Largest(scheduler.tasks(), static_cast<size_t>(prefixes), measure)) {
      const std::string finished = scheduler.finished().has_value() ? HumanCount(tasks.finished) : "–";
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

/// The same without the kinds, for files and pipes.
std::string SchedulersInOneLine(const LiveModel& model) {
  std::string text;
  for (const auto& [address, scheduler] : model.schedulers()) {
    if (!text.empty()) text += " | ";
    text += State(scheduler) + " · " + FinishedTasks(scheduler, model.second());
  }
  return text;
}

constexpr int kFixedRows = 14;  ///< edges, progress, key figures, the last half minute, two rules
constexpr int kLeastRowsOfBlock = 2;

PaintedText StateText(const LiveModel& model, const LiveFigures& figures) {
  const std::string clock = " " + HumanClock(figures.wall_seconds);
  const std::string trouble = LiveTrouble(model, figures);
  if (model.has_schedulers_only()) return {"▲ no records" + clock, Paint::kWatch};
  if (model.workers().empty() && !model.command().known) return {"waiting for records", Paint::kWatch};
  switch (model.state()) {
    case ProcessState::kRunning:
      if (!trouble.empty()) return {"✕ running" + clock + ", " + trouble, Paint::kBad};
      return {"running" + clock, Paint::kPlain};
    case ProcessState::kEnded:
      if (model.command().exit_status.value_or(0) != 0) {
        return {"✕ " + ExitStatusWords(*model.command().exit_status) + clock, Paint::kBad};
      }
      if (!trouble.empty()) return {"✕ finished" + clock + ", " + trouble, Paint::kBad};
      return {"✓ finished" + clock, Paint::kGood};
    case ProcessState::kUnreported:
      return {"▲ ended without a report" + clock, Paint::kWatch};
    case ProcessState::kLost:
      break;
  }
  return {"✕ stopped without an end" + clock, Paint::kBad};
}

std::string Left(const Progress& progress) {
  if (!progress.left.has_value()) return "";
  std::string text = fmt::format("{} left", HumanClock(*progress.left));
  if (progress.left_low.has_value() && progress.left_high.has_value()) {
    text += fmt::format(" ({} to {})", HumanClock(*progress.left_low), HumanClock(*progress.left_high));
  }
  return text;
}

void AddProgress(const LiveModel& model, const LiveFigures& figures, TerminalBox* box) {
  const Progress& progress = figures.progress;
  const TerminalStyle& style = box->style();
  const std::string chunks = Counted(model.totals().counts.num_chunks, "chunk", "chunks");
  const std::string events = HumanCount(progress.events);
  if (!progress.share.has_value()) {
    box->Line({{chunks, Paint::kBold}, {fmt::format(" · {} events · total not known (--total-events)", events)}});
    box->Line({});
    return;
  }
  box->Line({{fmt::format("{} of {} events", events, HumanCount(*progress.total_events)), Paint::kBold},
             {fmt::format(" · {} · {}", HumanPercent(*progress.share), chunks)},
             {progress.left.has_value() ? " · " + Left(progress) : "", Paint::kDim}});
  box->Line({{BarOnTrack(*progress.share, box->inner_columns(), style), Paint::kGood}});
}

Paint PaintOfPart(std::string_view part) {
  if (part == "compute") return Paint::kCompute;
  if (part == "waiting") return Paint::kWaiting;
  if (part == "framework") return Paint::kOverhead;
  return part == "open" ? Paint::kStillOpen : Paint::kDim;
}

void AddRecent(const LiveFigures& figures, TerminalBox* box) {
  box->Rule(fmt::format("where time goes, last {:.0f} s", figures.recent_seconds));
  if (figures.recent.empty()) return box->Line({{"no core was at work", Paint::kDim}});
  PaintedLine line;
  for (const RecentShare& share : figures.recent) {
    if (!line.empty()) line.push_back({" · ", Paint::kDim});
    line.push_back({fmt::format("{} ", share.brief)});
    line.push_back({HumanPercent(share.share), PaintOfPart(share.key)});
  }
  box->Line(line);
}

std::string Lanes(const LiveWorker& worker, const TerminalStyle& style) {
  constexpr int kMostLanes = 8;
  if (worker.cores() > kMostLanes) return fmt::format("{}/{}", worker.busy_cores(), worker.cores());
  const int lanes = static_cast<int>(std::ceil(worker.cores())),
            busy = static_cast<int>(std::ceil(worker.busy_cores()));
  return Repeated(style.ascii ? "#" : "■", busy) + Repeated(style.ascii ? "." : "□", lanes - busy);
}

WorkerNames NamesOfRecorded(const LiveModel& model) {
  std::set<std::string> names;
  for (const LiveWorker& worker : model.workers()) {
    if (worker.has_recorded()) names.insert(worker.worker());
  }
  return WorkerNames(names);
}

void AddWorkers(const LiveModel& model, int recorded, int rows, TerminalBox* box) {
  const TerminalStyle& style = box->style();
  box->Rule(fmt::format("workers ({})", recorded));
  if (recorded == 0) return box->Line({{"none has recorded a chunk yet", Paint::kDim}});
  const WorkerNames names = NamesOfRecorded(model);
  const int shown = recorded <= rows ? recorded : rows - 1;
  for (const size_t i : WorstWorkersFirst(model, static_cast<size_t>(shown))) {
    const LiveWorker& worker = model.workers()[i];
    PaintedLine line = {{Pad(CutFront(names.Of(worker.worker()), 20, style), 20, Align::kLeft, style)}, {"  "}};
    if (worker.state != ProcessState::kRunning) {
      const bool has_ended = worker.state == ProcessState::kEnded;
      line.push_back({has_ended ? "✓ ended" : "· ended without a report", Paint::kDim});
      if (worker.state == ProcessState::kLost) line.back() = {"✕ vanished", Paint::kBad};
      line.push_back({fmt::format("  {}", Counted(worker.sums.chunks, "chunk", "chunks")), Paint::kDim});
      box->Line(line);
      continue;
    }
    line.push_back({Pad(Lanes(worker, style), 9, Align::kLeft, style), Paint::kCompute});
    Paint paint = Paint::kPlain;
    double share = 0;
    if (worker.memory_limit_bytes.value_or(0) > 0) {
      share = static_cast<double>(worker.rss_bytes) / static_cast<double>(*worker.memory_limit_bytes);
      const Mark mark = MemoryMarkOf(model, worker);
      paint = mark == Mark::kGood ? Paint::kPlain : mark == Mark::kWatch ? Paint::kWatch : Paint::kBad;
    }
    if (box->has_bars()) {
      line.push_back({Pad(share > 0 ? BarOnTrack(share, 14, style) : "", 14, Align::kLeft, style), paint});
      line.push_back({"  "});
    }
    const std::string memory = worker.rss_bytes > 0 ? HumanMemory(worker.rss_bytes) : "–";
    line.push_back({Pad(memory, 9, Align::kRight, style), paint});
    line.push_back({Pad(HumanRate(model.EventRateOf(worker, model.stop_ns())), 11, Align::kRight, style)});
    if (worker.slow_is_warned) line.push_back({" ▲ slow", Paint::kWatch});
    box->Line(line);
  }
  if (recorded > shown) box->Line({{fmt::format("{} more", recorded - shown), Paint::kDim}});
}

PaintedText Sign(EventKind kind) {
  if (kind == EventKind::kInfo) return {"·", Paint::kDim};
  return MarkSign(kind == EventKind::kGood ? Mark::kGood : kind == EventKind::kWarning ? Mark::kWatch : Mark::kBad);
}

void AddLiveEvents(const LiveModel& model, int rows, TerminalBox* box) {
  box->Rule("what happened");
  const std::vector<LiveEvent> events = model.events().NewestFirst();
  for (size_t i = 0; i < std::min(events.size(), static_cast<size_t>(rows)); ++i) {
    const LiveEvent& event = events[i];
    const double seconds = (event.time_ns - model.start_ns()) / 1e9;
    box->Line({{Pad(HumanClock(seconds), 8, Align::kRight, box->style()), Paint::kDim},
               {"  "},
               Sign(event.kind),
               {" "},
               {event.text}});
  }
  if (events.empty()) box->Line({{"nothing yet", Paint::kDim}});
}

std::string FirstLines(const std::string& text, int rows) {
  size_t end = 0;
  for (int row = 0; row < rows && end < text.size(); ++row) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

}  // namespace

std::string RenderLive(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
                       const TerminalStyle& style, int rows) {
  TerminalBox box(style);
  box.Open("crema top", model.options().name, StateText(model, figures));
  if (model.has_schedulers_only()) {
    for (const SourceState& source : sources) {
      if (!source.problem.empty()) box.Paragraph("▲ " + source.problem, Paint::kWatch);
    }
    AddSchedulers(model, std::max(1, rows / 2), &box);
    AddLiveEvents(model, std::max(1, rows / 4), &box);
    return FirstLines(box.Close(), rows);
  }
  AddProgress(model, figures, &box);
  int further = 0;  // lines of key figures
  for (const KeyFigureRow& row : LiveKeyFigureRows(model, figures)) further += DrawKeyFigure(row, &box) - 1;
  AddRecent(figures, &box);
  int spare = rows - kFixedRows - further - (figures.gpus.count > 0 ? 1 : 0) - AddSchedulers(model, 0, &box);
  for (const SourceState& source : sources) {
    if (source.problem.empty() || spare <= 2 * kLeastRowsOfBlock) continue;
    box.Paragraph("▲ " + source.problem, Paint::kWatch);
    spare -= 1 + static_cast<int>(source.problem.size()) / box.inner_columns();
  }
  const auto recorded = static_cast<int>(figures.workers.recorded);
  // half for each; what one does not need is the other's
  const int events = static_cast<int>(std::max<size_t>(1, model.events().all().size()));
  int worker_rows =
      std::clamp(std::max(recorded, 1), 1, std::max(kLeastRowsOfBlock, spare - std::min(events, spare / 2)));
  AddWorkers(model, recorded, worker_rows, &box);
  AddLiveEvents(model, std::max(1, spare - worker_rows), &box);
  return FirstLines(box.Close(), rows);
}

std::string RenderLiveLine(const LiveModel& model, const LiveFigures& figures,
                           const std::vector<SourceState>& sources) {
  std::string problems;
  for (const SourceState& source : sources) problems += source.problem.empty() ? "" : " · " + source.problem;
  const bool is_waiting = model.workers().empty() && model.schedulers().empty() && !model.command().known;
  if (is_waiting && !problems.empty()) return "waiting for records" + problems + "\n";
  if (model.has_schedulers_only())
    return HumanClock(figures.wall_seconds) + " no records · " + SchedulersInOneLine(model) + "\n";
  const LiveTotals& totals = model.totals();
  const std::string_view state = NameOfRunState(model.state());
  std::string text = fmt::format(
      "{} {} · {} · {} events", HumanClock(figures.wall_seconds), state.empty() ? "ended without a report" : state,
      Counted(totals.counts.num_chunks, "chunk", "chunks"), HumanCount(totals.events_so_far()));
  if (figures.progress.share.has_value()) text += fmt::format(" ({})", HumanPercent(*figures.progress.share));
  text += fmt::format(" · {} · {} of {} busy", HumanRate(figures.event_rate), figures.busy,
                      Counted(figures.cores, "core", "cores"));
  if (totals.gone() > 0) text += fmt::format(" · {} failed or lost", totals.gone());
  const std::string trouble = LiveTrouble(model, figures);
  if (!trouble.empty()) text += " · " + trouble;
  if (figures.progress.left.has_value()) text += " · " + Left(figures.progress);
  return text + "\n";
}

}  // namespace crema
