// Manual pages: crema(1), and one for each command.
#ifndef CREMA_COLLECTOR_CLI_SHELL_MANUAL_PAGES_H_
#define CREMA_COLLECTOR_CLI_SHELL_MANUAL_PAGES_H_

#include <string>
#include <vector>

#include "collector/cli/shell/command_table.h"

namespace crema {

struct ManualPage {
  std::string path;  ///< below a `share` directory: `man/man1/crema-run.1`
  std::string text;  ///< in the language of man(7)
};

/// The page of the program, then one for each of its commands. They name no date, so that equal programs write equal
/// pages.
std::vector<ManualPage> ManualPages(const std::vector<CommandEntry>& commands, const std::string& version);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_SHELL_MANUAL_PAGES_H_
