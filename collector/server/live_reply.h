// What the live server answers to a GET.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_REPLY_H_
#define CREMA_COLLECTOR_SERVER_LIVE_REPLY_H_

#include <string>
#include <string_view>

namespace crema {

struct LiveReply {
  int status = 200;
  std::string_view type;
  std::string body;
  std::string_view policy = "";  ///< its Content-Security-Policy; empty: that of the live page
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_REPLY_H_
