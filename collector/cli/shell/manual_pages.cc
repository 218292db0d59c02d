#include "collector/cli/shell/manual_pages.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace crema {
namespace {

// Plain text as man(7) shows it: a dash that can be copied, no line that is taken for a request.
std::string Shown(const std::string& text) {
  std::string shown = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  const bool is_request = absl::StartsWith(shown, ".") || absl::StartsWith(shown, "'");
  return absl::StrCat(is_request ? "\\&" : "", shown);
}

std::string PageName(const std::string& program, const CommandEntry& command) {
  return command.name == program ? program : absl::StrCat(program, "-", command.name);
}

void AppendOptions(const char* heading, const std::vector<OptionEntry>& options, std::string* text) {
  if (options.empty()) return;
  absl::StrAppend(text, ".SH ", heading, "\n");
  for (const OptionEntry& option : options) {
    absl::StrAppend(text, ".TP\n\\fB", Shown(absl::StrJoin(option.names, ", ")), "\\fR");
    const bool is_positional = !absl::StartsWith(option.names.front(), "-");
    if (!option.value.empty() && !is_positional) absl::StrAppend(text, " \\fI", Shown(option.value), "\\fR");
    absl::StrAppend(text, "\n", Shown(option.text), "\n");
    if (!option.choices.empty()) {
      absl::StrAppend(text, ".br\nOne of ", Shown(absl::StrJoin(option.choices, ", ")), ".\n");
    }
  }
}

void AppendFooter(const std::string& footer, std::string* text) {
  if (footer.empty()) return;
  absl::StrAppend(text, ".SH NOTES\n.nf\n");
  const std::vector<std::string> lines = absl::StrSplit(footer, '\n');
  for (const std::string& line : lines) absl::StrAppend(text, Shown(line), "\n");
  absl::StrAppend(text, ".fi\n");
}

void AppendCommands(const std::vector<CommandEntry>& commands, std::string* text) {
  absl::StrAppend(text, ".SH COMMANDS\n");
  for (const CommandEntry& command : commands) {
    if (&command == &commands.front()) continue;
    absl::StrAppend(text, ".TP\n\\fB", PageName(commands.front().name, command), "\\fR(1)\n", Shown(command.text),
                    "\n");
  }
}

std::string PageOf(const CommandEntry& command, const std::vector<CommandEntry>& commands, const std::string& version) {
  const CommandEntry& program = commands.front();
  const std::string name = PageName(program.name, command);
  std::string text = absl::StrCat(".TH ", absl::AsciiStrToUpper(name), " 1 \"\" \"", program.name, " ", version,
                                  "\" \"\"\n.SH NAME\n", name, " \\- ", Shown(command.text), "\n.SH SYNOPSIS\n");
  for (const std::string& line : command.usage) absl::StrAppend(&text, ".nf\n", Shown(line), "\n.fi\n");
  AppendOptions("ARGUMENTS", command.positionals, &text);
  AppendOptions("OPTIONS", command.options, &text);
  if (&command == &program) AppendCommands(commands, &text);
  AppendFooter(command.footer, &text);
  if (&command != &program) absl::StrAppend(&text, ".SH SEE ALSO\n\\fB", program.name, "\\fR(1)\n");
  return text;
}

}  // namespace

std::vector<ManualPage> ManualPages(const std::vector<CommandEntry>& commands, const std::string& version) {
  std::vector<ManualPage> pages;
  for (const CommandEntry& command : commands) {
    pages.push_back({absl::StrCat("man/man1/", PageName(commands.front().name, command), ".1"),
                     PageOf(command, commands, version)});
  }
  return pages;
}

}  // namespace crema
