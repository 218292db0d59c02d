// Where a server is that an engine asks.
#pragma once

#include <string>

namespace crema {

struct ServerName {
  std::string host;  ///< of IPv6 without brackets
  std::string port;  ///< empty where none was given

  /// `HOST:PORT`, `[HOST]:PORT` for IPv6; a path behind it is left out.
  explicit ServerName(const std::string& host_and_port) {
    const size_t colon = host_and_port.rfind(':');
    host = host_and_port.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    port = colon == std::string::npos ? "" : host_and_port.substr(colon + 1);
    port = port.substr(0, port.find('/'));
  }
  /// For a request's field Host.
  std::string HostField() const { return host + ":" + port; }
};

}  // namespace crema
