// BaseInstrumentationContext: what users derive their own guards from.
#ifndef CREMA_INSTRUMENTATION_CONTEXT_H_
#define CREMA_INSTRUMENTATION_CONTEXT_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <string_view>

#include "crema/internal/section_node.h"
#include "crema/record_metric.h"

namespace crema {

/// A section with hooks: the derived class's constructor runs after it began, its destructor before it ends, and both
/// may record metrics of the chunk. When recording is off it costs what a section costs, and `recording()` is false.
///
///     class TrackAllocations : public crema::BaseInstrumentationContext {
///      public:
///       explicit TrackAllocations(std::string_view name) : BaseInstrumentationContext(name), before_(Allocations()) {}
///       ~TrackAllocations() { RecordMetric("allocations", Allocations() - before_, "count"); }
///       ...
///
/// A derived class's hooks are the user's code: crema neither catches nor causes exceptions in them.
class BaseInstrumentationContext {
 public:
  BaseInstrumentationContext(const BaseInstrumentationContext&) = delete;
  BaseInstrumentationContext& operator=(const BaseInstrumentationContext&) = delete;

 protected:
  explicit BaseInstrumentationContext(std::string_view name) noexcept : BaseInstrumentationContext(kBeginsLater) {
    BeginSection(name);
  }
  /// For guards with preparations that are not part of the section: they come before `BeginSection`. Readings belong
  /// inside: at the end of a system call the kernel may give the core to another thread, and the section waits then.
  enum Later { kBeginsLater };
  explicit BaseInstrumentationContext(Later) noexcept
      :
#ifndef CREMA_COMPILED_OUT
        recording_(internal::Recording()),
#endif
        uncaught_exceptions_(std::uncaught_exceptions()) {
  }
  ~BaseInstrumentationContext() { EndSection(); }

  /// Call once, in the constructor.
  void BeginSection([[maybe_unused]] std::string_view name) noexcept {
#ifndef CREMA_COMPILED_OUT
    if (!recording_) return;
    section_ = internal::EnterSection(name);
    context_ = internal::ContextOfThread();
    start_ns_ = internal::MonotonicNanoseconds();
#endif
  }
  /// Call in the destructor; else the section ends later. False on a thread that it did not begin on.
  bool EndSection() noexcept {
#ifdef CREMA_COMPILED_OUT
    return false;
#else
    if (section_.node != nullptr) internal::ExitSection(section_);
    section_.node = nullptr;
    return internal::ContextOfThread() == context_;
#endif
  }

  /// Whether anything that is measured here will be kept.
  bool recording() const noexcept {
#ifdef CREMA_COMPILED_OUT
    return false;
#else
    return recording_ && !internal::IsSwitchedOff();
#endif
  }
  /// Since the context began; zero when recording is off.
  std::chrono::nanoseconds elapsed() const noexcept {
    return std::chrono::nanoseconds(recording() ? internal::MonotonicNanoseconds() - start_ns_ : 0);
  }
  /// In the destructor: whether the scope is being left by an exception.
  bool failed() const noexcept { return std::uncaught_exceptions() > uncaught_exceptions_; }
  /// As `crema::RecordMetric`.
  template <class Value>
  void RecordMetric(std::string_view name, Value value, std::string_view unit = {}) const noexcept {
    if (recording()) crema::RecordMetric(name, value, unit);
  }

 private:
#ifndef CREMA_COMPILED_OUT
  internal::OpenSection section_;
  const internal::ThreadContext* context_ = nullptr;  ///< of the thread that it began on
#endif
  [[maybe_unused]] bool recording_ = false;
  std::int64_t start_ns_ = 0;
  int uncaught_exceptions_;
};

}  // namespace crema

#endif  // CREMA_INSTRUMENTATION_CONTEXT_H_
