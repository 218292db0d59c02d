#include "collector/server/live_key_figures.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/key_figures.h"
#include "collector/insight/thresholds.h"
#include "fmt/format.h"

namespace crema {
namespace {

ToldFigure Words(std::string words) { return {std::move(words), "", ""}; }

double BitRate(double bytes_per_second) { return bytes_per_second * 8 / 1e9; }

KeyFigureRow EventRate(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Event rate", {"event_rate_wall_khz", ChangeOf::kRate, true}};
  if (!model.totals().events_known) {
    row.why_not = "no chunk said its events (SetEvents)";
    return row;
  }
  row.value = figures.event_rate;
  row.text = HumanRate(figures.event_rate);
  row.notes = {Words(fmt::format("last {:.0f} s", figures.recent_seconds)),
               Words("run mean " + HumanRate(figures.mean_event_rate.value_or(0)))};
  return row;
}

KeyFigureRow DataRate(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Data rate", {"overall_rate_gbps", ChangeOf::kRate, true}};
  if (!model.totals().bytes_known) {
    row.why_not = "no chunk said its bytes (AddBytesRead)";
    return row;
  }
  row.value = BitRate(figures.byte_rate);
  row.text = HumanBitRate(*row.value);
  row.notes = {Words(fmt::format("last {:.0f} s", figures.recent_seconds)),
               Words("run mean " + HumanBitRate(BitRate(figures.mean_byte_rate.value_or(0)))),
               Words(HumanData(static_cast<double>(model.totals().bytes_read)) + " read")};
  return row;
}

KeyFigureRow CoresBusy(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Cores busy", {"core_efficiency", ChangeOf::kShare, true}};
  if (model.has_schedulers_only()) {
    row.why_not = "no chunk was recorded";
    return row;
  }
  row.value = static_cast<double>(figures.busy);
  row.text = fmt::format("{} of {}", figures.busy, figures.cores);
  row.share = figures.busy_share;
  if (figures.busy_share.has_value()) {
    row.notes = {
        Words(fmt::format("{} of the last {:.0f} s", HumanPercent(*figures.busy_share), figures.recent_seconds))};
  }
  return row;
}

KeyFigureRow CpuEfficiency(const LiveFigures& figures) {
  KeyFigureRow row = {"CPU efficiency", {"cpu_efficiency", ChangeOf::kShare, true}};
  if (!figures.cpu_efficiency.has_value()) {
    row.why_not = "not recorded";
    return row;
  }
  row.value = row.share = figures.cpu_efficiency;
  row.text = HumanPercent(*figures.cpu_efficiency);
  row.notes = {Words("since start")};
  if (!kEnoughCoreSeconds.Holds(figures.core_seconds)) {
    row.notes.push_back(Words("too little to judge"));
    return row;
  }
  if (figures.gpus.count > 0) {
    row.notes.push_back(Words("threads may spin for the GPU"));
    return row;
  }
  row.band = BandOf(KeyFigure::kCpuEfficiency);
  row.mark = MarkOf(*row.band, *row.share);
  row.notes.push_back(Words(GoodHint(*row.band)));
  return row;
}

KeyFigureRow FullestMemory(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Peak memory", {"peak_memory_bytes", ChangeOf::kMemory, false}};
  if (!figures.memory.has_value()) {
    row.why_not = "no worker was sampled";
    return row;
  }
  const WorstMemory& worst = *figures.memory;
  row.value = static_cast<double>(worst.bytes);
  row.text = HumanMemory(*row.value);
  const double limit = static_cast<double>(worst.limit_bytes.value_or(0));
  if (!(limit > 0)) {
    row.notes = {{"on ", "", "", "", 0, worst.worker}, Words("no limit known")};
    return row;
  }
  row.band = MemoryBand(model.engine());
  row.share = *row.value / limit;
  row.mark = MarkOf(*row.band, *row.share);
  if (worst.seconds_to_limit.has_value())
    row.notes.push_back(Words("full in " + HumanDuration(*worst.seconds_to_limit)));
  row.notes.push_back(Words(fmt::format("{} of {}", HumanPercent(*row.share), HumanMemory(limit))));
  row.notes.push_back({"on ", "", "", "", 0, worst.worker});
  row.notes.push_back(Words(GoodHint(*row.band)));
  return row;
}

int64_t LostWorkersOf(const LiveModel& model) {
  return std::count_if(model.workers().begin(), model.workers().end(), [](const LiveWorker& worker) {
    return worker.state == LiveState::kLost && worker.has_recorded();
  });
}

KeyFigureRow Failures(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Failed attempts", {"num_failed_attempts", ChangeOf::kFailures, false}};
  const LiveTotals& totals = model.totals();
  if (model.has_schedulers_only()) {
    row.why_not = "no chunk was recorded";
    return row;
  }
  const auto gone = static_cast<double>(totals.failed + totals.lost), attempts = static_cast<double>(totals.attempts);
  row.value = gone;
  row.text = fmt::format("{} of {}", HumanCount(gone), HumanCount(attempts));
  if (!(attempts > 0)) return row;
  row.band = BandOf(KeyFigure::kFailedAttempts);
  row.share = gone / attempts;
  row.mark = MarkOf(*row.band, *row.share);
  // a run that goes on may still try again
  if (model.state() != LiveState::kRunning && figures.unrecovered > 0) row.mark = Mark::kBad;
  if (gone == 0) {
    row.notes = {Words(GoodHint(*row.band))};
  } else if (figures.unrecovered == 0) {
    row.notes = {Words("all ok on retry")};
  } else {
    row.notes = {Words(HumanCount(static_cast<double>(figures.unrecovered)) + " without a result"),
                 Words(HumanCount(static_cast<double>(totals.recovered)) + " ok on retry")};
  }
  if (const int64_t workers = LostWorkersOf(model); workers > 0) {
    if (row.mark == Mark::kGood) row.mark = Mark::kWatch;
    row.notes.insert(row.notes.begin(), Words(Counted(static_cast<double>(workers), "worker", "workers") + " lost"));
  }
  if (totals.lost > 0) row.notes.push_back(Words(HumanCount(static_cast<double>(totals.lost)) + " lost"));
  return row;
}

KeyFigureRow Gpu(const LiveGpus& gpus) {
  KeyFigureRow row = {"GPU", {"gpu_utilization", ChangeOf::kShare, true}};
  row.value = row.share = gpus.utilization;
  row.text = gpus.utilization.has_value() ? HumanPercent(*gpus.utilization) : "–";
  row.notes = {Words(gpus.utilization.has_value() ? "a kernel ran" : "the driver does not report how busy it is")};
  if (gpus.count > 1) row.notes.push_back(Words(fmt::format("mean of {} GPUs", gpus.count)));
  if (gpus.memory_bytes.has_value()) {
    row.notes.push_back(Words(HumanMemory(static_cast<double>(*gpus.memory_bytes)) + " of its memory"));
  } else {
    row.notes.push_back(Words("maybe of other programs"));
  }
  if (gpus.power_watts.has_value()) row.notes.push_back(Words(fmt::format("{:.0f} W", *gpus.power_watts)));
  return row;
}

}  // namespace

std::vector<KeyFigureRow> LiveKeyFigureRows(const LiveModel& model, const LiveFigures& figures) {
  std::vector<KeyFigureRow> rows = {EventRate(model, figures), DataRate(model, figures),      CoresBusy(model, figures),
                                    CpuEfficiency(figures),    FullestMemory(model, figures), Failures(model, figures)};
  if (figures.gpus.count > 0) rows.push_back(Gpu(figures.gpus));
  return rows;
}

std::string LiveTrouble(const LiveModel& model, const LiveFigures& figures) {
  if (model.state() == LiveState::kLost) return "";
  if (model.state() != LiveState::kRunning && figures.unrecovered > 0) {
    return Counted(static_cast<double>(figures.unrecovered), "chunk", "chunks") + " without a result";
  }
  const auto lost = static_cast<double>(LostWorkersOf(model));
  return lost > 0 ? Counted(lost, "worker", "workers") + " lost" : "";
}

}  // namespace crema
