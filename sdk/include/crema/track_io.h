// TrackIo: bytes this thread read and wrote over a part of the work.
#ifndef CREMA_TRACK_IO_H_
#define CREMA_TRACK_IO_H_

#include <cstdint>
#include <string_view>

#include "crema/instrumentation_context.h"

namespace crema {

/// A section that records, as metrics of the chunk, what `/proc/thread-self/io` (proc(5)) says of it:
/// `<name>.rchar_bytes` and `<name>.wchar_bytes` through system calls, `<name>.read_bytes` and `<name>.write_bytes` at
/// the storage, and `<name>.read_calls`, `<name>.write_calls`. What the kernel does not report is not recorded. About
/// 3 us.
class TrackIo : public BaseInstrumentationContext {
 public:
  /// `name` must live as long as the guard.
  explicit TrackIo(std::string_view name) noexcept;
  ~TrackIo();

  static constexpr int kCounters = 6;

 private:
  [[maybe_unused]] std::string_view name_;
  [[maybe_unused]] std::int64_t start_[kCounters] = {-1, -1, -1, -1, -1, -1};
};

#ifdef CREMA_COMPILED_OUT
inline TrackIo::TrackIo(std::string_view name) noexcept : BaseInstrumentationContext(name) {}
inline TrackIo::~TrackIo() {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_IO_H_
