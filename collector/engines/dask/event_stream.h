// A scheduler's `/eventstream`, a WebSocket (RFC 6455): its messages as they come.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_EVENT_STREAM_H_
#define CREMA_COLLECTOR_ENGINES_DASK_EVENT_STREAM_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "collector/engines/http/server_name.h"

namespace crema {

/// After the handshake it sends nothing but what the protocol wants answered. A scheduler has one reader of this
/// stream: who connects takes it from the one before, who is not told.
class EventStream {
 public:
  /// `HOST:PORT`, `[HOST]:PORT` for IPv6.
  explicit EventStream(const std::string& host_and_port);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// Takes at most some seconds. Errors: Unavailable with what the network says.
  absl::Status Connect();
  bool is_open() const { return stream_ != nullptr; }
  void Close();

  /// Reads for as long as `limit`, and hands over each message; of those that are longer than 16 MiB it takes none.
  /// Errors: Unavailable: the stream has ended, and is not open any more.
  absl::Status ReadFor(std::chrono::milliseconds limit, const std::function<void(std::string_view)>& on_message);

 private:
  struct Stream;
  ServerName server_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_EVENT_STREAM_H_
