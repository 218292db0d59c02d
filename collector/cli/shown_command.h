// The command line as a log may keep it.
#ifndef CREMA_COLLECTOR_CLI_SHOWN_COMMAND_H_
#define CREMA_COLLECTOR_CLI_SHOWN_COMMAND_H_

#include <string>
#include <vector>

namespace crema {

/// What looks like a secret is `***`, by the rules of the SDK (sdk/src/log/secret_filter.h).
std::vector<std::string> WithoutSecrets(const std::vector<std::string>& command);

/// `WithoutSecrets`, or nothing where CREMA_NO_ARGUMENTS=1 asks to leave the command line out.
std::vector<std::string> ShownCommand(const std::vector<std::string>& command);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_SHOWN_COMMAND_H_
