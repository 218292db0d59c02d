// A map of rows (workers) and time: stronger colour is more, grey is "not there".
#ifndef CREMA_COLLECTOR_CHARTS_HEAT_MAP_H_
#define CREMA_COLLECTOR_CHARTS_HEAT_MAP_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace crema {

class HeatMap {
 public:
  /// Columns that a map of so many rows may have: all cells together stay below the most marks of a chart.
  static size_t BinsFor(size_t rows);

  /// `what` has the unit.
  HeatMap(double wall_seconds, std::string what) : wall_seconds_(wall_seconds), what_(std::move(what)) {}

  /// One value for each equal part of the run. Rows beyond 256 are left out.
  void AddRow(const std::string& name, const std::vector<std::optional<double>>& bins);
  /// One value for each part of `bin_seconds` from `start_seconds` on.
  void AddRow(const std::string& name, const std::vector<std::optional<double>>& bins, double start_seconds,
              double bin_seconds);
  /// The value of the strongest colour; otherwise the largest.
  void SetTop(double top) { top_ = top; }

  bool empty() const { return rows_ == 0; }
  /// `; 256 of 300 rows`, or nothing.
  std::string LeftOut() const;
  nlohmann::ordered_json Take();

 private:
  double wall_seconds_;
  std::string what_;
  std::optional<double> top_;
  size_t rows_ = 0;
  nlohmann::ordered_json cells_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json names_ = nlohmann::ordered_json::array();
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_HEAT_MAP_H_
