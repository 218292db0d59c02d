// The `process` line: the first of a record log.
#ifndef CREMA_SRC_PROCESS_LINE_H_
#define CREMA_SRC_PROCESS_LINE_H_

#include <string_view>

#include "recorder.h"

namespace crema {
namespace internal {

/// Opens the log of this process and writes who it is. False, with errno set, where it cannot be opened.
bool OpenLog(Recorder* recorder) noexcept;

/// What is shown of a command line: not the values that belong to names such as token, secret, pass, key, cred, as in
/// `--token=abc`, `--token abc`, `TOKEN=abc`.
class SecretFilter {
 public:
  struct Shown {
    std::string_view text;
    bool hides_value = false;  ///< `***` stands for what followed
  };
  /// Of the next argument; the text stands in it.
  Shown Next(std::string_view argument) noexcept;

 private:
  bool value_is_secret_ = false;
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_PROCESS_LINE_H_
