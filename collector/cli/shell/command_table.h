// The commands and options of the program, as its parser knows them: for shells and manual pages.
#ifndef CREMA_COLLECTOR_CLI_SHELL_COMMAND_TABLE_H_
#define CREMA_COLLECTOR_CLI_SHELL_COMMAND_TABLE_H_

#include <string>
#include <vector>

#include "CLI/App.hpp"

namespace crema {

struct OptionEntry {
  std::vector<std::string> names;    ///< with their dashes, short ones first
  std::string text;                  ///< what the help says of it
  std::string value;                 ///< the kind of its value, as in the help; empty for a flag
  std::vector<std::string> choices;  ///< the only values there are; empty where there are others
};

struct CommandEntry {
  std::string name;  ///< `run`; for the program itself `crema`
  std::string text;
  std::vector<std::string> usage;        ///< a line each
  std::vector<OptionEntry> options;      ///< with --help
  std::vector<OptionEntry> positionals;  ///< with one name each
  std::string footer;                    ///< explanations, examples
  bool runs_another = false;             ///< a command of the user's follows `--`
};

/// The program first, then its commands in the order of its help.
std::vector<CommandEntry> CommandTable(const CLI::App& program);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_SHELL_COMMAND_TABLE_H_
