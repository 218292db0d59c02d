#include "collector/cli/shell/command_table.h"

#include <cstddef>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace crema {
namespace {

constexpr char kUsage[] = "Usage: ";

// CLI::IsMember writes them into the kind of the value: `TEXT:{auto,always,never}`.
std::vector<std::string> ChoicesOf(const std::string& kind) {
  const size_t begin = kind.find('{');
  const size_t end = kind.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return absl::StrSplit(kind.substr(begin + 1, end - begin - 1), ',');
}

OptionEntry ShownOf(const CLI::Option& option) {
  OptionEntry shown;
  for (const std::string& name : option.get_snames()) shown.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shown.names.push_back("--" + name);
  if (option.get_positional()) shown.names = {option.get_name()};
  shown.text = option.get_description();
  if (option.get_expected_max() == 0) return shown;
  const std::string kind = option.get_type_name();
  shown.choices = ChoicesOf(kind);
  shown.value = option.get_option_text().empty() ? kind.substr(0, kind.find(':')) : option.get_option_text();
  return shown;
}

// A command may have a usage of its own, which only its help tells.
std::vector<std::string> UsageOf(const CLI::App& command, const std::string& program) {
  std::vector<std::string> usage;
  const std::vector<std::string> lines = absl::StrSplit(command.help(program), '\n');
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, kUsage)) {
      usage.push_back(line.substr(sizeof(kUsage) - 1));
    } else if (!usage.empty()) {
      if (line.empty()) break;
      usage.push_back(line.substr(line.find_first_not_of(' ')));
    }
  }
  return usage;
}

CommandEntry ShownOf(const CLI::App& command, const std::string& program) {
  CommandEntry shown;
  shown.name = command.get_name();
  shown.text = command.get_description();
  shown.footer = command.get_footer();
  shown.usage = UsageOf(command, program);
  for (const std::string& line : shown.usage) shown.runs_another |= absl::StrContains(line, " -- ");
  for (const CLI::Option* option : command.get_options()) {
    (option->get_positional() ? shown.positionals : shown.options).push_back(ShownOf(*option));
  }
  return shown;
}

}  // namespace

std::vector<CommandEntry> CommandTable(const CLI::App& program) {
  std::vector<CommandEntry> shown = {ShownOf(program, "")};
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    shown.push_back(ShownOf(*command, program.get_name()));
  }
  return shown;
}

}  // namespace crema
