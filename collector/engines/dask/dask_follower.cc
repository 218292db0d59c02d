#include "collector/engines/dask/dask_follower.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/engines/dask/dask_client.h"
#include "collector/engines/http/http_connection.h"

namespace crema {
namespace {

constexpr std::chrono::seconds kPause(1);
constexpr int kAnswerSeconds = 10;
constexpr size_t kMostWaitingBytes = size_t{16} << 20;

}  // namespace

DaskFollower::DaskFollower(const std::string& address) : address_(address), thread_([this] { Follow(); }) {}

DaskFollower::~DaskFollower() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

EngineNews DaskFollower::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  EngineNews news = std::move(news_);
  news_ = {};
  news_.answers = news.answers;
  news_.problem = news.problem;
  waiting_bytes_ = 0;
  wake_.notify_all();
  return news;
}

void DaskFollower::AddPage(std::string page) {
  waiting_bytes_ += page.size();
  news_.pages.push_back(std::move(page));
}

void DaskFollower::Follow() {
  HttpConnection scheduler(HostAndPort(address_), kAnswerSeconds);
  absl::Status missing;  // asked for once: to answer it, Dask goes through all its tasks
  std::string since = "0";
  std::string epoch;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    absl::StatusOr<HttpAnswer> page = scheduler.Get("/crema/v1/records?since=" + since);
    const bool has_no_plugin = page.ok() && page->status == 404;
    if (!has_no_plugin) missing = absl::OkStatus();
    if (has_no_plugin && !absl::IsNotFound(missing)) missing = WithoutPlugin(address_, &scheduler);
    lock.lock();
    bool has_more = false;
    if (has_no_plugin) {
      news_.answers = true;
      news_.problem = std::string(missing.message());
    } else if (page.ok() && page->status == 200) {
      news_.answers = true;
      news_.problem.clear();
      const std::string answered_by = page->headers["x-crema-epoch"];
      const bool is_restart = !epoch.empty() && answered_by != epoch;
      epoch = answered_by;
      has_more = is_restart || !page->body.empty();
      since = is_restart ? "0" : page->headers["x-crema-next"];
      if (!is_restart && !page->body.empty()) AddPage(std::move(page->body));
    } else if (!page.ok()) {
      news_.answers = false;
      news_.problem = fmt::format("{}: no answer ({})", address_, std::string(page.status().message()));
    } else {
      news_.answers = false;
      news_.problem = fmt::format("{}: answered {} to /crema/v1/records", address_, page->status);
    }
    if (!has_more) wake_.wait_for(lock, kPause, [this] { return stopping_; });
    // g++ 12's wait() without a limit asks for a libstdc++ that systems with glibc 2.34 do not have
    while (!stopping_ && waiting_bytes_ >= kMostWaitingBytes) wake_.wait_for(lock, kPause);
  }
}

}  // namespace crema
