#include "collector/cli/subcommand.h"

#include <signal.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "collector/cli/measured_source.h"

namespace crema {

CLI::Validator FiniteNumber(double least, double most, bool is_whole) {
  const std::string range = most < kAnyNumber ? fmt::format("{} to {}", least, most) : fmt::format("{} or more", least);
  return CLI::Validator(
      [least, most, is_whole, range](const std::string& text) {
        double number = 0;
        int64_t whole = 0;
        const bool is_number = absl::SimpleAtod(text, &number) && (!is_whole || absl::SimpleAtoi(text, &whole));
        if (is_number && number >= least && number <= most) return std::string();
        return fmt::format("give a {}number ({}), not {}", is_whole ? "whole " : "", range, text);
      },
      range);
}

std::string KindOfValue(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || !option.get_option_text().empty()) return option.get_option_text();
  return absl::StrReplaceAll(
      option.get_type_name(),
      {{"TEXT:{", ""}, {"}", ""}, {",", "|"}, {":", ", "}, {"UINT", "N"}, {"INT", "N"}, {"FLOAT", "NUMBER"}});
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional()) return "";
  const std::string value = option->get_default_str();
  return " " + KindOfValue(*option) + (value.empty() ? "" : " (default " + value + ")") +
         (option->get_required() ? " (required)" : "");
}

void PrintError(const std::string& message) {
  // names of files, and what is in them, may hold anything
  std::fputs(("crema: " + PlainLine(message) + "\n").c_str(), stderr);
}

int PrintOut(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kExitDone;
  const bool nobody_reads = errno == EPIPE && signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  return nobody_reads ? kExitDone : ReportFailure(absl::ErrnoToStatus(errno, "stdout"));
}

int PrintBesideGate(const std::string& text) {
  signal(SIGPIPE, SIG_IGN);
  return PrintOut(text);
}

int ReportFailure(const absl::Status& status) {
  PrintError(std::string(status.message()));
  return kExitFailed;
}

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
    const std::string lower = absl::AsciiStrToLower(std::string(locale));
    return lower.find("utf-8") != lower.npos || lower.find("utf8") != lower.npos;
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

TerminalStyle StyleFor(int descriptor, const OutputOptions& options, std::string_view source) {
  TerminalStyle style;
  style.source = source;
  style.width = options.width > 0 ? options.width : Width(descriptor);
  style.color = WantsColor(descriptor, options.color);
  style.ascii = options.ascii || !LocaleIsUtf8();
  return style;
}

std::string NextStep(const OutputOptions& options, const std::string& command, const std::string& shows,
                     int descriptor) {
  if (options.quiet || (options.is_list && isatty(STDOUT_FILENO) == 0)) return "";
  const std::string line = PlainLine("next: " + command);
  const std::string whole = shows.empty() ? line : fmt::format("{}  ({})", line, shows);
  const auto room = static_cast<size_t>(StyleFor(descriptor, options).width);
  if (descriptor != STDOUT_FILENO || whole.size() <= room) return whole + "\n";
  return line.size() <= room ? line + "\n" : "";
}

std::string ShellWord(const std::string& word) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(c) || std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
  };
  if (!word.empty() && absl::c_all_of(word, is_plain)) return word;
  return "'" + absl::StrReplaceAll(word, {{"'", "'\\''"}}) + "'";
}

std::string NextRun(const OutputOptions& options, const Measurement& measurement, const std::string& run_options,
                    const std::string& shows, int descriptor) {
  std::string command;
  for (const std::string& word : measurement.run.command.value_or(std::vector<std::string>())) {
    command += " " + ShellWord(word);
  }
  const std::string before = "crema run " + run_options + "--";
  const size_t room = static_cast<size_t>(StyleFor(descriptor, options).width) - sizeof("next:");
  const bool is_whole = !command.empty() && command == PlainLine(command) && command.find("***") == command.npos;
  if (!is_whole || before.size() + command.size() > room) command = " COMMAND";
  return NextStep(options, before + command, shows, descriptor);
}

std::string NextReport(const OutputOptions& options, const std::string& source, int descriptor) {
  return source.empty() ? "" : NextStep(options, "crema report " + source, "one page, for any browser", descriptor);
}

}  // namespace crema
