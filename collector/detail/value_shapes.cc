#include "collector/detail/value_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "collector/metrics/attempts/attempt_quantities.h"

namespace crema {
namespace {

constexpr size_t kSortedPoints = 201;
constexpr int kMostBins = 120;

std::optional<double> InSeconds(std::optional<int64_t> ns) {
  return ns.has_value() ? std::optional<double>(static_cast<double>(*ns) / 1e9) : std::nullopt;
}
std::optional<double> Number(int64_t value) {
  return value == AttemptRow::kUnknown ? std::nullopt : std::optional<double>(static_cast<double>(value));
}
std::optional<double> Ratio(std::optional<double> numerator, std::optional<double> denominator) {
  if (!numerator.has_value() || !denominator.has_value() || !(*denominator > 0)) return std::nullopt;
  return *numerator / *denominator;
}

struct Quantity {
  std::string_view name;
  std::optional<double> (*of)(const AttemptList& list, size_t index);
};

std::optional<double> Duration(const AttemptList& list, size_t i) { return InSeconds(Known(list.rows[i].duration_ns)); }
std::optional<double> Events(const AttemptList& list, size_t i) { return Number(list.rows[i].events); }
std::optional<double> Cpu(const AttemptList& list, size_t i) { return InSeconds(ChunkCpu(list.rows[i], list.helpers)); }
std::optional<double> CpuWait(const AttemptList& list, size_t i) { return InSeconds(Known(list.rows[i].cpu_wait_ns)); }
std::optional<double> Blocked(const AttemptList& list, size_t i) {
  return InSeconds(ChunkBlocked(list.rows[i], list.helpers));
}
std::optional<double> BytesRead(const AttemptList& list, size_t i) { return Number(list.bytes[i].read); }
std::optional<double> Uncompressed(const AttemptList& list, size_t i) { return Number(list.bytes[i].uncompressed); }
std::optional<double> Compression(const AttemptList& list, size_t i) {
  return Ratio(Uncompressed(list, i), BytesRead(list, i));
}
std::optional<double> EventRate(const AttemptList& list, size_t i) { return Ratio(Events(list, i), Duration(list, i)); }
std::optional<double> TimePerEvent(const AttemptList& list, size_t i) {
  return Ratio(Duration(list, i), Events(list, i));
}
std::optional<double> Columns(const AttemptList& list, size_t i) {
  return list.columns[i] == 0 ? std::nullopt : std::optional<double>(list.columns[i]);
}
std::optional<double> RssDeltaBytes(const AttemptList& list, size_t i) {
  const std::optional<int64_t> delta = RssDelta(list.rows[i]);
  return delta.has_value() ? std::optional<double>(static_cast<double>(*delta)) : std::nullopt;
}
std::optional<double> RssStop(const AttemptList& list, size_t i) { return Number(list.rows[i].rss_stop_bytes); }

constexpr std::array<Quantity, 13> kQuantities = {{
    {"duration_seconds", Duration},
    {"cpu_seconds", Cpu},
    {"cpu_wait_seconds", CpuWait},
    {"blocked_seconds", Blocked},
    {"events", Events},
    {"event_rate", EventRate},
    {"time_per_event_seconds", TimePerEvent},
    {"bytes_read", BytesRead},
    {"bytes_uncompressed", Uncompressed},
    {"compression_ratio", Compression},
    {"columns", Columns},
    {"rss_delta_bytes", RssDeltaBytes},
    {"rss_stop_bytes", RssStop},
}};

struct Pair {
  Quantity x;
  Quantity y;
};

constexpr std::array<Pair, 4> kPairs = {{
    {{"events", Events}, {"duration_seconds", Duration}},
    {{"events", Events}, {"rss_stop_bytes", RssStop}},
    {{"bytes_read", BytesRead}, {"duration_seconds", Duration}},
    {{"cpu_seconds", Cpu}, {"blocked_seconds", Blocked}},
}};

bool IsCounted(const AttemptRow& row) { return row.status == AttemptState::kOk && row.duration_ns >= 0; }

/// Narrow bins where the values are close together, wide ones where they span many decades.
void SetLogAxis(double least, double most, ValueShape* shape) {
  for (const int per_decade : {50, 20, 10, 5, 2}) {
    const double first = std::floor(std::log10(least) * per_decade);
    const double last = std::floor(std::log10(most) * per_decade) + 1;
    shape->per_decade = per_decade;
    shape->first_exponent = first / per_decade;
    const auto bins = static_cast<size_t>(last - first);
    for (std::vector<int64_t>& counts : shape->counts) counts.assign(bins, 0);
    if (last - first <= kMostBins / 2.0) return;
  }
}

void FillSorted(std::vector<double> values, ValueShape* shape) {
  std::sort(values.begin(), values.end());
  if (values.size() <= kSortedPoints) {
    shape->sorted = std::move(values);
    return;
  }
  for (size_t point = 0; point < kSortedPoints; ++point) {
    shape->sorted.push_back(values[point * (values.size() - 1) / (kSortedPoints - 1)]);
  }
}

std::optional<ValueShape> Shape(const AttemptList& list, const Quantity& quantity, const std::vector<uint32_t>& slots,
                                uint32_t slot_count) {
  ValueShape shape;
  shape.quantity = quantity.name;
  shape.counts.resize(std::max(1U, slot_count));
  std::vector<double> values;
  double least_positive = 0;
  for (size_t i = 0; i < list.rows.size(); ++i) {
    if (!IsCounted(list.rows[i])) continue;
    const std::optional<double> value = quantity.of(list, i);
    if (!value.has_value()) continue;
    values.push_back(*value);
    shape.sum += *value;
    if (!(*value > 0)) ++shape.not_positive;
    if (*value > 0 && (least_positive == 0 || *value < least_positive)) least_positive = *value;
  }
  if (values.empty()) return std::nullopt;
  shape.count = static_cast<int64_t>(values.size());
  shape.min = *std::min_element(values.begin(), values.end());
  shape.max = *std::max_element(values.begin(), values.end());
  FillSorted(std::move(values), &shape);
  if (least_positive == 0) return shape;
  SetLogAxis(least_positive, shape.max, &shape);
  for (size_t i = 0; i < list.rows.size(); ++i) {
    if (!IsCounted(list.rows[i])) continue;
    const std::optional<double> value = quantity.of(list, i);
    if (!value.has_value() || !(*value > 0)) continue;
    const double bin = std::floor((std::log10(*value) - shape.first_exponent) * shape.per_decade);
    std::vector<int64_t>& counts = shape.counts[slots[i]];
    ++counts[static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(counts.size() - 1)))];
  }
  return shape;
}

std::optional<CountGrid> Grid(const AttemptList& list, const Pair& pair) {
  CountGrid grid;
  grid.x_quantity = pair.x.name;
  grid.y_quantity = pair.y.name;
  const auto for_each = [&](const auto& visit) {
    for (size_t i = 0; i < list.rows.size(); ++i) {
      if (!IsCounted(list.rows[i])) continue;
      const std::optional<double> x = pair.x.of(list, i);
      const std::optional<double> y = pair.y.of(list, i);
      if (x.has_value() && y.has_value()) visit(*x, *y);
    }
  };
  for_each([&grid](double x, double y) {
    if (grid.count++ == 0) {
      grid.x_max = std::max(0.0, x);
      grid.y_max = std::max(0.0, y);
    }
    grid.x_min = std::min(grid.x_min, x);
    grid.x_max = std::max(grid.x_max, x);
    grid.y_min = std::min(grid.y_min, y);
    grid.y_max = std::max(grid.y_max, y);
  });
  if (grid.count == 0) return std::nullopt;
  if (!(grid.x_max > grid.x_min)) grid.x_max = grid.x_min + 1;
  if (!(grid.y_max > grid.y_min)) grid.y_max = grid.y_min + 1;
  grid.cells.assign(static_cast<size_t>(grid.columns) * static_cast<size_t>(grid.rows), 0);
  const auto cell_of = [](double value, double min, double max, int cells) {
    return std::clamp(static_cast<int>((value - min) / (max - min) * cells), 0, cells - 1);
  };
  for_each([&](double x, double y) {
    const int column = cell_of(x, grid.x_min, grid.x_max, grid.columns);
    const int row = cell_of(y, grid.y_min, grid.y_max, grid.rows);
    ++grid.cells[static_cast<size_t>(row) * static_cast<size_t>(grid.columns) + static_cast<size_t>(column)];
  });
  return grid;
}

}  // namespace

double ValueShape::Edge(size_t index) const {
  return std::pow(10.0, first_exponent + static_cast<double>(index) / per_decade);
}

std::vector<ValueShape> ShapeDistributions(const AttemptList& list, const std::vector<uint32_t>& slots,
                                           uint32_t slot_count) {
  std::vector<ValueShape> shapes;
  for (const Quantity& quantity : kQuantities) {
    std::optional<ValueShape> shape = Shape(list, quantity, slots, slot_count);
    if (shape.has_value()) shapes.push_back(*std::move(shape));
  }
  return shapes;
}

std::vector<CountGrid> ShapeGrids(const AttemptList& list) {
  std::vector<CountGrid> grids;
  for (const Pair& pair : kPairs) {
    std::optional<CountGrid> grid = Grid(list, pair);
    if (grid.has_value()) grids.push_back(*std::move(grid));
  }
  return grids;
}

}  // namespace crema
