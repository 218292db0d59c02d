// What an engine's server answers to a plain GET.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace crema {

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< by name in lower case
  std::string body;
};

/// Asks `server` (`HOST:PORT`, `[HOST]:PORT` for IPv6; a path behind it is left out) on a connection of its own.
/// Errors: Unavailable with what the network says, or that the answer is none or ends early; ResourceExhausted.
absl::StatusOr<HttpAnswer> HttpGet(const std::string& server, const std::string& target, std::chrono::seconds limit);

/// `my%20run` is `my run`.
std::string PercentDecoded(std::string_view text);

}  // namespace crema
