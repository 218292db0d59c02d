// The live server's token in a file, for programs that ask it.
#ifndef CREMA_COLLECTOR_SERVER_TOKEN_FILE_H_
#define CREMA_COLLECTOR_SERVER_TOKEN_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace crema {

/// The token in the file, which stays the same from server to server. A file that is not there, or empty, gets a new
/// one and is its user's alone (0600). Errors: others can read or write the file, or own it; no regular file; what it
/// holds can be no token (access.h).
absl::StatusOr<std::string> TokenOfFile(const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_TOKEN_FILE_H_
