// The eight figures that say how a run went: the one list that terminal, report and notebook show, each in its way.
#ifndef CREMA_COLLECTOR_INSIGHT_KEY_FIGURE_ROWS_H_
#define CREMA_COLLECTOR_INSIGHT_KEY_FIGURE_ROWS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/figure_change.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/insight/told_figure.h"
#include "collector/measurement/measurement.h"

namespace crema {

struct KeyFigureRow {
  std::string_view label;
  ChangedFigure figure;                    ///< key of the metric, and how it is compared
  std::string (*words)(double) = nullptr;  ///< of a value of the metric times `figure.scale`
  std::string_view meaning = "";           ///< a few words, for where there is room

  std::optional<double> value = std::nullopt;  ///< nullopt: not measured
  std::string text = "–";                      ///< the value as people read it
  std::string why_not = "";                    ///< why it was not measured

  std::optional<KeyFigureBand> band = std::nullopt;  ///< what judges `share`
  std::optional<double> share = std::nullopt;        ///< 0 to 1: how far a bar is filled
  std::optional<Mark> mark = std::nullopt;           ///< none where too little was measured to judge
  std::vector<ToldFigure> notes = {};                ///< most important first
};

/// Of every document with chunks the same eight, in this order: elapsed time, event rate, data rate, CPU efficiency,
/// blocked, peak memory, balance, failed attempts. Of a command without chunks those of its processes.
std::vector<KeyFigureRow> KeyFigureRows(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_KEY_FIGURE_ROWS_H_
