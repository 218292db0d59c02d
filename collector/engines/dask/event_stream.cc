#include "collector/engines/dask/event_stream.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <cstddef>
#include <utility>

namespace crema {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::asio::ip::tcp;

constexpr std::chrono::seconds kConnectTimeout(5);
constexpr size_t kLongestMessage = size_t{16} << 20;

}  // namespace

struct EventStream::Stream {
  boost::asio::io_context context;
  websocket::stream<beast::tcp_stream> socket{context};
  beast::flat_buffer buffer;
  beast::error_code error;
  const std::function<void(std::string_view)>* on_message = nullptr;

  /// Begins an operation and waits for its end.
  template <class Begin>
  bool Run(const Begin& begin) {
    begin([this](const beast::error_code& outcome, const auto&...) { error = outcome; });
    context.run();
    context.restart();
    return !error;
  }

  void Read() {
    socket.async_read(buffer, [this](const beast::error_code& outcome, size_t) {
      error = outcome;
      if (error) return;
      (*on_message)({static_cast<const char*>(buffer.data().data()), buffer.size()});
      buffer.clear();
      Read();
    });
  }
};

EventStream::EventStream(const std::string& host_and_port) : server_(host_and_port) {}

EventStream::~EventStream() = default;

void EventStream::Close() { stream_ = nullptr; }

absl::Status EventStream::Connect() {
  auto made = std::make_unique<Stream>();
  beast::tcp_stream& lowest = beast::get_lowest_layer(made->socket);
  tcp::resolver resolver(made->context);
  const auto addresses = resolver.resolve(server_.host, server_.port, made->error);
  if (made->error) return absl::UnavailableError(made->error.message());
  lowest.expires_after(kConnectTimeout);
  if (!made->Run([&](auto done) { lowest.async_connect(addresses, done); })) {
    return absl::UnavailableError(made->error.message());
  }
  lowest.expires_never();
  // no pings of ours: that the scheduler is there is seen by its other answers
  made->socket.set_option(websocket::stream_base::timeout{kConnectTimeout, websocket::stream_base::none(), false});
  made->socket.read_message_max(kLongestMessage);
  if (!made->Run([&](auto done) { made->socket.async_handshake(server_.HostField(), "/eventstream", done); })) {
    return absl::UnavailableError(made->error.message());
  }
  stream_ = std::move(made);
  return absl::OkStatus();
}

absl::Status EventStream::ReadFor(std::chrono::milliseconds limit,
                                  const std::function<void(std::string_view)>& on_message) {
  if (stream_ == nullptr) return absl::UnavailableError("not connected");
  const bool is_first = stream_->on_message == nullptr;
  stream_->on_message = &on_message;
  if (is_first) stream_->Read();
  stream_->context.restart();
  stream_->context.run_for(limit);
  if (!stream_->error) return absl::OkStatus();
  const std::string reason = stream_->error.message();
  stream_ = nullptr;
  return absl::UnavailableError(reason);
}

}  // namespace crema
