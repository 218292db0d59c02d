// SpanState: an open span.
#pragma once

#include "storage/arena.h"

namespace crema::internal {

struct Recorder;
struct ThreadState;

/// One of the process is kept after it ended: a chunk that begins at that moment on another thread may read its path.
struct SpanState {
  /// An open span below `outer` (null: none is around it); null when memory is refused.
  static SpanState* Make(SpanState* outer, std::string_view name) noexcept;

  std::string_view name;
  std::string_view path;      ///< names from the outermost on, with `/` between; `/` inside a name is `%2F`
  std::int64_t start_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t pid = 0;
  ThreadState* thread = nullptr;  ///< whose it is; null: the process's
  SpanState* outer = nullptr;
  SpanState* ended_before = nullptr;  ///< of those that are kept after they ended

 private:
  OwnArray<char> texts_;  ///< name and path
};

/// The thread's own span, else the process's; empty where none is open.
std::string_view InnermostSpanPath(const Recorder& recorder, const ThreadState& thread) noexcept;

}  // namespace crema::internal
