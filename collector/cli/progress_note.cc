#include "collector/cli/progress_note.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace crema {
namespace {

constexpr std::chrono::seconds kPatience(1);
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

ProgressNote::ProgressNote(std::string what, bool quiet) : what_(std::move(what)) {
  if (!quiet && isatty(STDERR_FILENO) != 0) waiter_ = std::thread([this] { Wait(); });
}

ProgressNote::~ProgressNote() {
  if (!waiter_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  waiter_.join();
}

void ProgressNote::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (over_.wait_for(lock, kPatience, [this] { return is_over_; })) return;
  std::fprintf(stderr, "crema: %s ...", what_.c_str());
  // Not wait(): GCC 12 binds it to GLIBCXX_3.4.30, which AlmaLinux 9 does not have.
  while (!over_.wait_for(lock, kPatience, [this] { return is_over_; })) {
  }
  std::fputs(kEraseLine, stderr);
}

}  // namespace crema
