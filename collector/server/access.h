// Who may ask the live server for what.
#ifndef CREMA_COLLECTOR_SERVER_ACCESS_H_
#define CREMA_COLLECTOR_SERVER_ACCESS_H_

#include <map>
#include <string>
#include <string_view>

namespace crema {

/// A request's target, taken apart: `/api/live?since=3` is the path `/api/live` and `since` = `3`.
struct HttpTarget {
  std::string path;
  std::map<std::string, std::string> query;
};

/// Decodes `%XX` and `+` in the query.
HttpTarget ParseTarget(std::string_view target);

/// Whether the `Host` of a request is one by which this machine can be meant: a literal address, `localhost` or its own
/// name. A page of another site that has its name point here (DNS rebinding) fails by it. The port does not matter: it
/// is another one behind a tunnel.
bool IsOwnHost(std::string_view host);

/// Whether an address can only be reached from this machine.
bool IsLoopback(std::string_view address);

/// Whether a request carries the token: as `Authorization: Bearer`, as `token` of the query, or as the cookie that the
/// page got for it. Takes the same time whatever is wrong. An empty `token` asks for none.
bool HasToken(std::string_view token, const HttpTarget& target, std::string_view authorization,
              std::string_view cookies);

/// A token of 32 hexadecimal digits, from the kernel's random numbers.
std::string MakeToken();

/// The cookie's name.
inline constexpr std::string_view kTokenCookie = "crema_token";

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_ACCESS_H_
