// What a shell completes after `crema`, written as a script in its language.
#ifndef CREMA_COLLECTOR_CLI_SHELL_COMPLETIONS_H_
#define CREMA_COLLECTOR_CLI_SHELL_COMPLETIONS_H_

#include <string>
#include <vector>

#include "collector/cli/shell/command_table.h"

namespace crema {

struct ShellCompletion {
  const char* shell;  ///< its name
  const char* path;   ///< where the shell looks for it, below a `share` directory
  std::string (*write)(const std::vector<CommandEntry>& commands);
};

/// Of each shell that there is a script for.
const std::vector<ShellCompletion>& ShellCompletions();

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_SHELL_COMPLETIONS_H_
