#include "collector/cli/output_options.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "collector/writers/display_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int kDefaultWidth = 100;
constexpr int kLeastWidth = 20;

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool WantsColor(int descriptor, const std::string& color) {
  if (color != "auto") return color == "always";
  return isatty(descriptor) != 0 && Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
}

// The first of these that is set names the character set (setlocale(3)); none at all is the C locale. crema writes
// bytes and asks no locale to be installed.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = Variable(name);
    if (locale.empty()) continue;
    for (const char* suffix : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (locale.find(suffix) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

int Width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeastWidth) return size.ws_col;
  const int columns = std::atoi(std::string(Variable("COLUMNS")).c_str());
  return columns >= kLeastWidth ? columns : kDefaultWidth;
}

}  // namespace

void AddOutputOptions(CLI::App* subcommand, OutputOptions* options) {
  subcommand->add_flag("-q,--quiet", options->quiet,
                       "Print no progress, and no summary unless you ask for it. Errors are still printed");
  subcommand
      ->add_option("--color", options->color,
                   "Use colours: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  subcommand->add_flag("--ascii", options->ascii, "Print only ASCII; this is the default if the locale is not UTF-8");
}

TerminalStyle StyleFor(int descriptor, const OutputOptions& options) {
  TerminalStyle style;
  style.width = Width(descriptor);
  style.color = WantsColor(descriptor, options.color);
  style.ascii = options.ascii || !LocaleIsUtf8();
  return style;
}

std::string NextStep(const OutputOptions& options, const std::string& command, const std::string& shows, int width) {
  if (options.quiet) return "";
  const std::string line = PlainLine("next: " + command);
  const std::string whole = fmt::format("{}  ({})", line, shows);
  const auto has_room = [width](const std::string& text) { return text.size() <= static_cast<size_t>(width); };
  return has_room(whole) ? whole + "\n" : has_room(line) ? line + "\n" : "";
}

void AddCoffeaOptions(CLI::App* subcommand, MeasureOptions* options) {
  subcommand
      ->add_option("--coffea-report", options->coffea_reports,
                   "What Runner(savemetrics=True) returned, as JSON. Give the option several times to add several up")
      ->take_all();
  subcommand
      ->add_option("--metrics-by-dataset", options->metrics_by_dataset,
                   "JSON: {dataset: {entries, duration, performance_counters: {num_requested_bytes}}}")
      ->take_all();
}

void RequireSource(const MeasureOptions& options) {
  if (options.sources.empty() && options.coffea_reports.empty() && options.metrics_by_dataset.empty()) {
    throw CLI::RequiredError("SOURCE");
  }
}

}  // namespace crema
