// What ROOT said about an error on this thread: so that a failed chunk can say why.
#ifndef CREMA_ROOT_ERROR_NOTES_H_
#define CREMA_ROOT_ERROR_NOTES_H_

#include <TError.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

/// The thread's first error since `Clear`: the one that is nearest to the cause.
class ErrorNote {
 public:
  static ErrorNote& OfThread() {
    thread_local ErrorNote note;
    return note;
  }
  void Clear() noexcept { text_[0] = '\0'; }
  void Set(const char* location, const char* message) noexcept {
    if (text_[0] == '\0') std::snprintf(text_, sizeof text_, "%s: %s", location, message);
  }
  bool empty() const noexcept { return text_[0] == '\0'; }
  const char* text() const noexcept { return text_; }

 private:
  char text_[512] = {};
};

/// While one is alive, ROOT's error handler notes errors, and calls the handler that was there before it.
class ErrorNotes {
 public:
  ErrorNotes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (users_++ == 0) Kept().clear();
    if (is_in_place_ && ::GetErrorHandler() != Before().load()) return;
    if (::GetErrorHandler() != &Note) Before().store(::SetErrorHandler(&Note));
    is_in_place_ = true;
  }
  ~ErrorNotes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--users_ != 0 || ::GetErrorHandler() != &Note) return;
    ::SetErrorHandler(Before().load());
    is_in_place_ = false;
  }
  /// The last of the first errors while one is alive, on any thread, that names `file`; "" where none does.
  static std::string About(std::string_view file) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::vector<std::string>& kept = Kept();
    const auto names_it = [&](const std::string& text) { return text.find(file) != text.npos; };
    const auto found = std::find_if(kept.rbegin(), kept.rend(), names_it);
    return found != kept.rend() ? *found : std::string();
  }
  ErrorNotes(const ErrorNotes&) = delete;
  ErrorNotes& operator=(const ErrorNotes&) = delete;

 private:
  inline static std::mutex mutex_;
  inline static int users_ = 0;
  inline static bool is_in_place_ = false;  ///< perhaps below a handler of the program's, which may call it
  static constexpr std::size_t kMostKept = 64;
  static std::vector<std::string>& Kept() {
    static std::vector<std::string> kept;
    return kept;
  }
  static void Keep(const char* location, const char* message) noexcept {
    try {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (Kept().size() < kMostKept) Kept().push_back(std::string(location) + ": " + message);
    } catch (...) {  // no memory: the reason stays unknown
    }
  }
  static std::atomic<ErrorHandlerFunc_t>& Before() {
    static std::atomic<ErrorHandlerFunc_t> before{&::DefaultErrorHandler};
    return before;
  }
  static void Note(int level, Bool_t abort, const char* location, const char* message) {
    if (level >= kError) {
      if (location == nullptr) location = "";
      ErrorNote::OfThread().Set(location, message);
      Keep(location, message);
    }
    Before().load()(level, abort, location, message);
  }
};

}  // namespace crema::internal

#endif  // CREMA_ROOT_ERROR_NOTES_H_
