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

`crema plot` draws a run: each chart answers one question, says in its subtitle by which figures, and names the run and
the crema that it comes from. A chart without figures is not drawn, and one line says why.

```sh not-run
crema plot ttbar -o plots                              # all charts, PNG with two pixels a unit
crema plot ttbar section_icicle -o icicle.svg          # one: .png, .svg, .pdf, or .json
crema plot ttbar chunk_timeline throughput_timeline -o 'plots/{name}.pdf'
crema plot ttbar --baseline last_week -o plots         # another run behind it, in grey
crema plot ttbar --list                                # what there is, and why not
```

Any measurement will do, and `--list` without one names all charts:

```sh run
crema run -q -o sleeping -- sleep 0.1
crema plot sleeping --list
crema plot sleeping resource_utilization -o resources.json
```

The pictures are drawn by [vl-convert](https://github.com/vega/vl-convert) in one process. Install it into any Python:
`pip install vl-convert-python==@version@`; `--python` or `CREMA_PLOT_PYTHON` names that Python, else crema looks into
the active environment, beside itself, into `.cache/plots` (`tools/setup plots` of a checkout) and on the PATH. Without it
crema writes the specifications and says so.

A `.json` file is the [Vega-Lite](https://vega.github.io/vega-lite/) specification of a chart, with its data: it opens in
Jupyter, in the Vega editor, and in any page. Its `config` is the theme (`--theme dark` has another), and the colours stand
there only, so that a page may exchange it as a whole. At most 20,000 marks are in it: beyond that values are summed
over equal parts of time, or counted in cells; failures and stragglers stay.

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
