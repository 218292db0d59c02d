#include "collector/charts/charts_page.h"

#include <string_view>

#include "collector/appearance/colours.h"
#include "collector/charts/chart.h"
#include "collector/pictures/renderer.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kHead =
    R"(<!-- Written by `bazel run //docs:generated_pages_test -- --write` from collector/charts/chart_table.cc. -->
# Plots

`crema plot` draws a run. Each chart answers one question. Its subtitle has the figures that answer it, the run, and the
version of crema. A chart without figures is not drawn; one line says why.

```sh not-run
crema plot ttbar -o plots                              # all charts, PNG with two pixels a unit
crema plot ttbar section_icicle -o icicle.svg          # one: .png, .svg, .pdf, or .json
crema plot ttbar chunk_timeline throughput_timeline -o 'plots/{name}.pdf'
crema plot ttbar --baseline last_week -o plots         # another run behind it, in grey
crema plot ttbar --list                                # which charts there are, and why some cannot be drawn
```

Any measurement will do. Without one, `--list` names all charts:

```sh run
crema run -q -o sleeping -- sleep 0.1
crema plot sleeping --list
crema plot sleeping process_timeline -o processes.json
```

[vl-convert](https://github.com/vega/vl-convert) draws the pictures, in one process. Install it into any Python:
`pip install vl-convert-python==@version@`. `--python` or `CREMA_PLOT_PYTHON` names this Python. Otherwise crema
looks in the active environment, beside itself, in `.cache/plots` (from `tools/setup plots` in a checkout) and on the
PATH. Without vl-convert crema writes the specifications, and says so.

A `.json` file is the [Vega-Lite](https://vega.github.io/vega-lite/) specification of a chart, with its data. Jupyter,
the Vega editor and any page can show it. Its `config` is the theme (`--theme dark` has another). The colours stand
there only, so a page can replace all of them at once. A specification has at most 20,000 marks. Where there are more,
crema sums values over equal parts of time, or counts them in cells. Failures and stragglers always stay.

)";

constexpr std::string_view kColours = R"(
## Colours

The same colour stands for the same thing everywhere.

| name | light | dark | stands for |
|---|---|---|---|
)";

}  // namespace

std::string ChartsPage() {
  std::string page(kHead);
  constexpr std::string_view kVersion = "@version@";
  page.replace(page.find(kVersion), kVersion.size(), kVlConvertVersion);
  page += "## Charts\n\n| name | question | marks |\n|---|---|---|\n";
  for (const ChartKind& kind : ChartKinds()) {
    page += fmt::format("| `{}` | {} | {} |\n", kind.name, kind.question, kind.text);
  }
  page += kColours;
  for (const std::vector<Colour>* table : {&Colours(), &DatasetColours()}) {
    for (const Colour& colour : *table) {
      page += fmt::format("| {} | `{}` | `{}` | {} |\n", colour.name, colour.light, colour.dark, colour.meaning);
    }
  }
  return page;
}

}  // namespace crema
