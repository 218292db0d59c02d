#include "collector/charts/lane_cells.h"

#include <algorithm>

namespace crema {
namespace {

constexpr double kNs = 1e9;
constexpr size_t kMostColumns = 640;  // a column a pixel

double WaitingSeconds(const DetailAttempt& attempt) {
  return static_cast<double>(attempt.cpu_wait_ns.value_or(0) + attempt.blocked_ns.value_or(0)) / kNs;
}

std::vector<LaneCell> CellsOfAttempts(const RunDetail& detail) {
  std::vector<LaneCell> cells;
  for (const DetailAttempt& attempt : detail.attempts) {
    if (!attempt.duration_ns.has_value()) continue;
    cells.push_back({attempt.row, static_cast<double>(attempt.start_ns) / kNs,
                     static_cast<double>(attempt.stop_ns()) / kNs, SlotOf(detail, attempt.dataset),
                     WaitingSeconds(attempt)});
  }
  return cells;
}

/// As the detail's runs give them, else attempts.
std::vector<LaneCell> StretchesOf(const RunDetail& detail) {
  if (detail.runs.empty()) return CellsOfAttempts(detail);
  std::vector<LaneCell> stretches;
  for (const DetailRun& run : detail.runs) {
    if (run.busy == 0) continue;
    const double start = detail.timeline_start_seconds + run.first_bin * detail.bin_seconds;
    const double stop = start + run.bins * detail.bin_seconds;
    stretches.push_back({run.row, start, stop, run.slot, 0, static_cast<double>(run.busy) / 8});
  }
  return stretches;
}

/// Busy seconds by row, column and slot.
class ColumnGrid {
 public:
  ColumnGrid(size_t rows, size_t columns, double seconds)
      : columns_(columns), width_(seconds / static_cast<double>(columns)), busy_(rows * columns) {}

  void Add(const LaneCell& stretch) {
    const double last = static_cast<double>(columns_) * width_;
    const double from = std::clamp(stretch.start_seconds, 0.0, last), to = std::clamp(stretch.stop_seconds, 0.0, last);
    const size_t end = std::min(columns_, static_cast<size_t>(std::ceil(to / width_)));
    for (auto column = static_cast<size_t>(from / width_); column < end; ++column) {
      const double begin = static_cast<double>(column) * width_;
      const double overlap = std::min(to, begin + width_) - std::max(from, begin);
      if (overlap > 0) busy_[stretch.row * columns_ + column][stretch.slot] += overlap * stretch.busy_share;
    }
  }

  /// Columns that are busy for a quarter of their time at least, equal neighbours merged.
  std::vector<LaneCell> Cells() const {
    std::vector<LaneCell> cells;
    for (size_t i = 0; i < busy_.size(); ++i) {
      const auto most = std::max_element(busy_[i].begin(), busy_[i].end());
      double sum = 0;
      for (const double seconds : busy_[i]) sum += seconds;
      if (sum < 0.25 * width_) continue;
      const auto row = static_cast<uint32_t>(i / columns_);
      const double start = static_cast<double>(i % columns_) * width_;
      const auto slot = static_cast<uint32_t>(most - busy_[i].begin());
      const bool goes_on = !cells.empty() && cells.back().row == row && cells.back().slot == slot &&
                           std::fabs(cells.back().stop_seconds - start) < width_ / 2;
      if (goes_on) {
        cells.back().stop_seconds = start + width_;
      } else {
        cells.push_back({row, start, start + width_, slot, 0});
      }
    }
    return cells;
  }

 private:
  size_t columns_;
  double width_;
  std::vector<std::array<double, kDatasetSlots>> busy_;
};

}  // namespace

LaneCells LaneCellsOf(const RunDetail& detail, size_t most) {
  LaneCells lanes;
  if (detail.timeline_is_exact && detail.attempts.size() <= most) {
    lanes.cells = CellsOfAttempts(detail);
    return lanes;
  }
  lanes.is_exact = false;
  if (detail.rows.empty() || !(detail.seconds > 0)) return lanes;
  const std::vector<LaneCell> stretches = StretchesOf(detail);
  for (size_t columns = kMostColumns; columns > 0; columns /= 2) {
    ColumnGrid grid(detail.rows.size(), columns, detail.seconds);
    for (const LaneCell& stretch : stretches) grid.Add(stretch);
    lanes.cells = grid.Cells();
    if (lanes.cells.size() <= most) return lanes;
  }
  return lanes;
}

}  // namespace crema
