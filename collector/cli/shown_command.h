// The command line as a log may keep it.
#ifndef CREMA_COLLECTOR_CLI_SHOWN_COMMAND_H_
#define CREMA_COLLECTOR_CLI_SHOWN_COMMAND_H_

#include <string>
#include <vector>

namespace crema {

/// What looks like a secret is `***`; the rules are those of the record log's `arguments`:
/// - values that belong to names such as token, secret, pass, key, cred, auth, cookie, bearer: `--token=abc`,
///   `--token abc`, `TOKEN=abc`, and headers: `Authorization: Bearer abc`, in one argument or in several;
/// - the word after `Bearer` or `Basic` anywhere;
/// - passwords in addresses, `https://user:abc@host`, and after a user's name, `--user me:abc`, `-u me:abc`.
std::vector<std::string> WithoutSecrets(const std::vector<std::string>& command);

/// `WithoutSecrets`, or nothing where CREMA_NO_ARGUMENTS=1 asks to leave the command line out.
std::vector<std::string> ShownCommand(const std::vector<std::string>& command);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_SHOWN_COMMAND_H_
