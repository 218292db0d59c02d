#include "collector/charts/colours.h"

#include <string>

namespace crema {

const std::vector<Colour>& Colours() {
  static const std::vector<Colour> kColours = {
      {"card", "#fcfcfc", "#161d26", "what charts are drawn on"},
      {"ink", "#1a2230", "#e4e9f0", "titles, figures in the chart, reference lines"},
      {"muted", "#5d697b", "#96a3b4", "axes, subtitles"},
      {"grid", "#e1e5eb", "#2a3442", "grid lines"},
      {"cpu", "#2f6fb0", "#5a9ee0", "CPU in your code; the colour of what has no other"},
      {"wait", "#ca7600", "#f0b35a", "waiting in your code"},
      {"opening", "#8c6d46", "#9a7548", "opening and reading around your code"},
      {"overhead", "#6b2d5c", "#e3c9f0", "framework and repeats"},
      {"idle", "#d5dae1", "#364150", "idle cores, what is not known, what is not there"},
      {"events", "#00805f", "#2fbd92", "events"},
      {"data", "#00528a", "#4a9fe0", "data read"},
      {"limit", "#b91c1c", "#f0806a", "failures and limits, nothing else"},
      {"baseline", "#828d9c", "#7d8a9b", "the run that is compared with"},
      {"others", "#a9c3df", "#3c5f86", "what is not in the foreground, of the same kind"},
      {"onCpu", "#ffffff", "#06121e", "text on `cpu`"},
      {"onWait", "#1a2230", "#06121e", "text on `wait`"},
      {"good", "#dbede8", "#1a3436", "the good part of a scale"},
      {"watch", "#fbeacb", "#3b3320", "the part of a scale to look at"},
      {"bad", "#f6d9d5", "#41262a", "the bad part of a scale"},
      {"palest", "#e6f0fa", "#1c2836", "the low end of a map"},
      {"strongest", "#00407a", "#8ccdf5", "the high end of a map"},
  };
  return kColours;
}

const std::vector<Colour>& DatasetColours() {
  static const std::vector<Colour> kColours = {
      {"dataset1", "#00528a", "#4a9fe0", "first dataset"},
      {"dataset2", "#c98500", "#f0b53c", "second"},
      {"dataset3", "#00805f", "#2fbd92", "third"},
      {"dataset4", "#c264a0", "#d98fb8", "fourth"},
      {"dataset5", "#3f97d0", "#8ccdf5", "fifth"},
      {"dataset6", "#7fa8c4", "#2b5f86", "sixth: the first, paler"},
      {"dataset7", "#e0c080", "#8f6d26", "seventh"},
      {"dataset8", "#80bfaf", "#1f7158", "eighth"},
      {"dataset9", "#dcb1cf", "#82566e", "ninth"},
      {"dataset10", "#9fcbe7", "#547b93", "tenth"},
      {"dataset11", "#6b7789", "#96a3b4", "eleventh"},
      {"dataset12", "#b9c0ca", "#4c5867", "`other`"},
  };
  return kColours;
}

nlohmann::ordered_json ColourNamed(std::string_view name) { return {{"expr", std::string(name) + "Colour"}}; }

}  // namespace crema
