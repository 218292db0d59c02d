// What a blocked thread waits for, as the kernel shows it.
#ifndef CREMA_SRC_KERNEL_BLOCKED_CALL_H_
#define CREMA_SRC_KERNEL_BLOCKED_CALL_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crema {
namespace internal {

enum class WaitKind : std::uint8_t {
  kRunning,  ///< on a CPU, or waiting for one
  kLock,     ///< or a condition: futex(2)
  kRead,
  kWrite,
  kSync,
  kNetwork,
  kPoll,
  kSleep,
  kChild,
  kPageFault,
  kOther,
};
inline constexpr int kWaitKinds = static_cast<int>(WaitKind::kOther) + 1;
/// As it stands in the log.
std::string_view NameOf(WaitKind kind) noexcept;

/// A system call that a thread is in.
struct BlockedCall {
  WaitKind kind = WaitKind::kRunning;
  int descriptor = -1;         ///< that it is about; -1: none
  std::string_view call;       ///< its name, for `kOther`; a literal
  bool is_in_no_call = false;  ///< blocked all the same: a page fault, mostly
};

/// `text` is that of `/proc/<pid>/task/<tid>/syscall` (proc(5)): "running", or numbers, of which the first is that of
/// the call, -1 for none. False where it is neither.
bool ParseBlockedCall(std::string_view text, BlockedCall* call) noexcept;

/// What a descriptor of this process is open on: a path, `pipe`, or what the kernel calls it. Written to `text`, with
/// its size returned; 0: not known. `*socket` becomes the inode of a socket, else 0.
std::size_t DescribeDescriptor(int descriptor, char* text, std::size_t capacity, std::uint64_t* socket) noexcept;

/// The other end of a TCP connection, `tcp:10.0.3.17:1094`, or `socket`. The kernel goes through all connections of the
/// machine for it, which may take milliseconds.
std::size_t DescribeSocket(std::uint64_t socket, char* text, std::size_t capacity) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_KERNEL_BLOCKED_CALL_H_
