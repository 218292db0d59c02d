// A connection to an HTTP server, for plain GET requests.
#ifndef CREMA_COLLECTOR_ENGINES_HTTP_HTTP_CONNECTION_H_
#define CREMA_COLLECTOR_ENGINES_HTTP_HTTP_CONNECTION_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "collector/engines/http/server_name.h"

namespace crema {

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
