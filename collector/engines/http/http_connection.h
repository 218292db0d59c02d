// A connection to an HTTP server, for plain GET requests.
#ifndef CREMA_COLLECTOR_ENGINES_HTTP_HTTP_CONNECTION_H_
#define CREMA_COLLECTOR_ENGINES_HTTP_HTTP_CONNECTION_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace crema {

/// Where an HTTP server is.
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

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< by name in lower case
  std::string body;
};

/// Connects at the first request and stays connected while the server allows it.
class HttpConnection {
 public:
  /// `HOST:PORT`, `[HOST]:PORT` for IPv6. An answer may take `answer_seconds`.
  HttpConnection(const std::string& host_and_port, int answer_seconds);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Errors: Unavailable with what the network says.
  absl::StatusOr<HttpAnswer> Get(const std::string& target);

 private:
  struct Stream;
  ServerName server_;
  int answer_seconds_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_HTTP_HTTP_CONNECTION_H_
