#include "collector/format/colours.h"

#include <array>

namespace crema {
namespace {

/// `onCpu` as style sheets write names: `on-cpu`.
std::string VariableName(std::string_view name) {
  std::string variable;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper) variable += '-';
    variable += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return variable;
}

std::array<const std::vector<Colour>*, 3> Tables() { return {&Colours(), &PageColours(), &DatasetColours()}; }

}  // namespace

const std::vector<Colour>& Colours() {
  static const std::vector<Colour> kColours = {
      {"card", "#fdfdfe", "#161b22", "what charts are drawn on"},
      {"ink", "#172033", "#e6edf3", "titles, figures in the chart, reference lines"},
      {"muted", "#5d697b", "#96a3b4", "axes, subtitles, notes", "90"},
      {"grid", "#dfe4ea", "#30363d", "grid lines, frames"},
      {"cpu", "#2f6fb0", "#5a9ee0", "CPU in your code; the colour of what has no other", "34"},
      {"wait", "#ca7600", "#f0b35a", "waiting in your code", "33"},
      {"opening", "#8c6d46", "#9a7548", "opening and reading around your code", "36"},
      {"outside", "#3e7f86", "#6fb3ba", "CPU outside chunks", "96"},
      {"overhead", "#6b2d5c", "#e3c9f0", "framework and repeats", "35"},
      {"idle", "#d5dae1", "#364150", "idle cores, what is not there", "90"},
      {"unknown", "#98a2b3", "#7d8794", "what was not measured"},
      {"events", "#00805f", "#2fbd92", "events"},
      {"data", "#00528a", "#4a9fe0", "data read"},
      {"limit", "#b91c1c", "#f0806a", "failures and limits, nothing else"},
      {"baseline", "#828d9c", "#7d8a9b", "the run that is compared with"},
      {"others", "#a9c3df", "#3c5f86", "what is not in the foreground, of the same kind"},
      {"onCpu", "#ffffff", "#06121e", "text on `cpu`, `opening`, `outside` and `overhead`"},
      {"onWait", "#172033", "#06121e", "text on `wait` and `unknown`"},
      {"good", "#dbede8", "#1a3436", "the good part of a scale"},
      {"watch", "#fbeacb", "#3b3320", "the part of a scale to look at"},
      {"bad", "#f6d9d5", "#41262a", "the bad part of a scale"},
      {"palest", "#e6f0fa", "#1c2836", "the low end of a map"},
      {"strongest", "#00407a", "#8ccdf5", "the high end of a map"},
  };
  return kColours;
}

const std::vector<Colour>& PageColours() {
  static const std::vector<Colour> kColours = {
      {"page", "#f3f5f8", "#0d1117", "the ground below cards"},
      {"tip", "#ffffff", "#1c232c", "the card beside the pointer"},
      {"gridSoft", "#ebeef2", "#232a33", "lines between rows of a table"},
      {"track", "#f0f1f4", "#1c222b", "what rows of the timeline are drawn on"},
      {"unfilled", "#e4e7ec", "#2a3441", "the rest of a bar"},
      {"secondary", "#4a566b", "#b1bac4", "text that is not read first"},
      {"link", "#0b559f", "#6cb2f7", "links, what is chosen"},
      {"linkBack", "#e3eefa", "#12304d", "behind `link`"},
      {"needle", "#101828", "#ffffff", "where a figure stands, frames of findings"},
      {"stillOpen", "#9db8d2", "#41607f", "chunks that have not ended: how their time splits is not known yet", "94"},
      {"goodText", "#00734f", "#3fc796", "good, in words; on `good` too", "32"},
      {"goodLine", "#7cc4a8", "#1f6f54", "around `good`"},
      {"watchText", "#8a5300", "#f0b35a", "to look at, in words", "33"},
      {"watchLine", "#d9a24a", "#8a6420", "around `watch`"},
      {"badText", "#b3261e", "#ff8f7d", "bad, in words", "1;31"},
      {"badLine", "#e39385", "#97473b", "around `bad`"},
  };
  return kColours;
}

// Five are distinct to all eyes; no set of more is. None is a paler one of another: pale is waiting.
const std::vector<Colour>& DatasetColours() {
  static const std::vector<Colour> kColours = {
      {"dataset1", "#00528a", "#4a9fe0", "first dataset"}, {"dataset2", "#c98500", "#f0b53c", "second"},
      {"dataset3", "#00805f", "#2fbd92", "third"},         {"dataset4", "#c264a0", "#d98fb8", "fourth"},
      {"dataset5", "#3f97d0", "#8ccdf5", "fifth"},         {"dataset6", "#7a4f9e", "#b895dc", "sixth"},
      {"dataset7", "#8a6d3b", "#c9a66b", "seventh"},       {"dataset8", "#4f7f2a", "#93c468", "eighth"},
      {"dataset9", "#b5543c", "#ea8f76", "ninth"},         {"dataset10", "#5a6b8c", "#9aabcd", "tenth"},
      {"dataset11", "#a0458a", "#e07fc6", "eleventh"},     {"dataset12", "#7d8794", "#a3adba", "`other`"},
  };
  return kColours;
}

std::string_view TerminalColour(std::string_view name) {
  for (const std::vector<Colour>* table : Tables()) {
    for (const Colour& colour : *table) {
      if (colour.name == name) return colour.terminal;
    }
  }
  return "";
}

std::string ColourVariables() {
  std::string light = ":root {\n  color-scheme: light;\n";
  std::string dark = ":root[data-theme=\"dark\"] {\n  color-scheme: dark;\n";
  for (const std::vector<Colour>* table : Tables()) {
    for (const Colour& colour : *table) {
      const std::string variable = "  --" + VariableName(colour.name) + ": ";
      light += variable + std::string(colour.light) + ";\n";
      dark += variable + std::string(colour.dark) + ";\n";
    }
  }
  return light + "}\n" + dark + "}\n";
}

}  // namespace crema
