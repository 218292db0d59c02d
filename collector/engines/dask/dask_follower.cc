#include "collector/engines/dask/dask_follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/engines/dask/bare_follower.h"
#include "collector/engines/dask/dask_client.h"
#include "collector/engines/http/http_connection.h"

namespace crema {
namespace {

constexpr std::chrono::seconds kPause(1);
constexpr int kAnswerSeconds = 10;
constexpr size_t kMostWaitingBytes = size_t{16} << 20;
/// Where there is no plug-in, it may be attached yet: so often it is asked for.
constexpr std::chrono::seconds kBareSpell(5);
/// Dask goes through all its tasks to count them. It is asked once a second, or so rarely that counting takes a 50th of
/// the time, but every 5 s at least.
constexpr int kPausesOfAnAnswer = 50;
constexpr std::chrono::seconds kLongestPause(5);
/// So soon it is seen that this has to end.
constexpr std::chrono::milliseconds kSlice(100);

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

void DaskFollower::FollowBare(HttpConnection* scheduler, BareFollower* bare, std::unique_lock<std::mutex>* lock) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point spell_end = Clock::now() + kBareSpell;
  while (!stopping_ && Clock::now() < spell_end) {
    const Clock::time_point begin = Clock::now();
    const bool has_room = waiting_bytes_ < kMostWaitingBytes;
    lock->unlock();
    absl::StatusOr<std::string> lines = has_room ? bare->Ask(scheduler) : "";
    lock->lock();
    const Clock::duration pause = (Clock::now() - begin) * kPausesOfAnAnswer;
    const Clock::time_point end = begin + std::clamp<Clock::duration>(pause, kPause, kLongestPause);
    news_.answers = lines.ok();
    if (!lines.ok()) {
      const std::string reason(lines.status().message());
      news_.problem = absl::IsNotFound(lines.status()) ? reason : fmt::format("{}: no answer ({})", address_, reason);
      bare->Disconnect();
      return;
    }
    if (!lines->empty()) AddPage(*std::move(lines));
    // the stream is always read, whoever takes what it told: else it would fill the scheduler's memory
    while (!stopping_ && Clock::now() < end) {
      lock->unlock();
      const bool has_listened = bare->Listen(kSlice);
      lock->lock();
      if (!has_listened) wake_.wait_for(*lock, kSlice, [this] { return stopping_; });
    }
    news_.problem = bare->Problem();
  }
}

void DaskFollower::Follow() {
  HttpConnection scheduler(HostAndPort(address_), kAnswerSeconds);
  std::unique_ptr<BareFollower> bare;  // as long as there is no plug-in
  std::string since = "0";
  std::string epoch;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    absl::StatusOr<HttpAnswer> page = scheduler.Get("/crema/v1/records?since=" + since);
    lock.lock();
    if (page.ok() && page->status == 404) {
      if (bare == nullptr) bare = std::make_unique<BareFollower>(address_);
      FollowBare(&scheduler, bare.get(), &lock);
      if (news_.answers) continue;
    }
    bool has_more = false;
    if (page.ok() && page->status == 200) {
      bare = nullptr;
      news_.answers = true;
      news_.problem.clear();
      const std::string answered_by = page->headers["x-crema-epoch"];
      const bool is_restart = !epoch.empty() && answered_by != epoch;
      epoch = answered_by;
      has_more = is_restart || !page->body.empty();
      since = is_restart ? "0" : page->headers["x-crema-next"];
      if (!is_restart && !page->body.empty()) AddPage(std::move(page->body));
    } else if (!page.ok()) {
      if (bare != nullptr) bare->Disconnect();
      news_.answers = false;
      news_.problem = fmt::format("{}: no answer ({})", address_, std::string(page.status().message()));
    } else if (page->status != 404) {
      news_.answers = false;
      news_.problem = fmt::format("{}: answered {} to /crema/v1/records", address_, page->status);
    }
    if (!has_more) wake_.wait_for(lock, kPause, [this] { return stopping_; });
    // g++ 12's wait() without a limit asks for a libstdc++ that systems with glibc 2.34 do not have
    while (!stopping_ && waiting_bytes_ >= kMostWaitingBytes) wake_.wait_for(lock, kPause);
  }
}

}  // namespace crema
