// The `process` line: the first of a record log.
#ifndef CREMA_SRC_PROCESS_LINE_H_
#define CREMA_SRC_PROCESS_LINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "recorder.h"

namespace crema {
namespace internal {

/// Opens the log of this process and writes who it is. False, with errno set, where it cannot be opened.
bool OpenLog(Recorder* recorder);

/// The command line with `***` for values that belong to names such as token, secret, pass, key, cred:
/// `--token=abc`, `--token abc`, `TOKEN=abc`.
std::vector<std::string> WithoutSecrets(const std::vector<std::string>& arguments);

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_PROCESS_LINE_H_
