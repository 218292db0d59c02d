// Who may ask the live server for what.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

/// A request's target, taken apart: `/api/live?since=3` is the path `/api/live` and `since` = `3`.
struct HttpTarget {
  std::string path;
  std::map<std::string, std::string> query;
};

/// Decodes `%XX` and `+` in the query.
HttpTarget ParseTarget(std::string_view target);

/// By which names a browser may mean this server, in lower case: `localhost`, this machine's name, whole and up to its
/// first dot, and `given`, those that the user says it has elsewhere.
std::vector<std::string> OwnHostNames(const std::vector<std::string>& given);

/// Whether the `Host` of a request is exactly one of `names`, 127.0.0.1, [::1], or `address`, at which the connection
/// came in. A page of another site that has its name point here (DNS rebinding) fails by it. The port does not matter:
/// it is another one behind a tunnel.
bool IsOwnHost(std::string_view host, std::string_view address, const std::vector<std::string>& names);

/// Whether a request carries the token: as `Authorization: Bearer`, as `token` of the query, or as the cookie that the
/// page got for it. Takes the same time whatever is wrong. An empty `token` asks for none.
bool HasToken(std::string_view token, const HttpTarget& target, std::string_view authorization,
              std::string_view cookies);

/// A token of 32 hexadecimal digits, from the kernel's random numbers.
std::string MakeToken();

/// Whether a text can be a token: letters, digits, `-._~`, at least 8, which mean themselves in an address, a header
/// and a cookie.
bool CanBeToken(std::string_view text);

/// The name of the cookie with this token. A browser sends the cookies of a host to all its ports, so that of another
/// server beside this one must have another name.
std::string TokenCookie(std::string_view token);

/// The token in the file, which stays the same from server to server. A file that is not there, or empty, gets a new
/// one and is its user's alone (0600). Errors: others can read or write the file, or own it; no regular file; what it
/// holds can be no token.
absl::StatusOr<std::string> TokenOfFile(const std::string& path);

}  // namespace crema
