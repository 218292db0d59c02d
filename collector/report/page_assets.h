// What the page brings along, as constants that the build makes from page/ and the npm packages.
#pragma once

#include <string_view>

namespace crema {

struct PageAsset {
  std::string_view text;
  std::string_view hash;  ///< as a Content-Security-Policy wants it: `'sha256-…'`
};

extern const PageAsset kPageStyle;
extern const PageAsset kPageScript;
/// Vega, Vega-Lite and Vega's interpreter; empty where the build did not find them.
extern const PageAsset kChartScript;
extern const std::string_view kChartScriptVersions;  ///< `vega 6.4.0, vega-lite 6.5.0, ...`

}  // namespace crema
