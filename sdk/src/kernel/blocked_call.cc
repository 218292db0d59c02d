#include "kernel/blocked_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernel/proc_file.h"
#include "storage/fixed_text.h"

namespace crema {
namespace internal {
namespace {

constexpr std::string_view kKindNames[kWaitKinds] = {"running",       "lock or condition", "read", "write",
                                                     "sync",          "network",           "poll", "sleep",
                                                     "child process", "page fault",        "other"};

struct Call {
  long number;
  WaitKind kind;
  bool has_descriptor;  ///< as its first argument
  std::string_view name;
};

#define CREMA_CALL(name, kind, has_descriptor) \
  { SYS_##name, WaitKind::kind, has_descriptor, #name }
constexpr Call kCalls[] = {
    CREMA_CALL(futex, kLock, false),
    CREMA_CALL(read, kRead, true),
    CREMA_CALL(readv, kRead, true),
    CREMA_CALL(pread64, kRead, true),
    CREMA_CALL(preadv, kRead, true),
    CREMA_CALL(preadv2, kRead, true),
    CREMA_CALL(getdents64, kRead, true),
    CREMA_CALL(write, kWrite, true),
    CREMA_CALL(writev, kWrite, true),
    CREMA_CALL(pwrite64, kWrite, true),
    CREMA_CALL(pwritev, kWrite, true),
    CREMA_CALL(pwritev2, kWrite, true),
    CREMA_CALL(ftruncate, kWrite, true),
    CREMA_CALL(fallocate, kWrite, true),
    CREMA_CALL(copy_file_range, kWrite, true),
    CREMA_CALL(sendfile, kWrite, true),
    CREMA_CALL(fsync, kSync, true),
    CREMA_CALL(fdatasync, kSync, true),
    CREMA_CALL(syncfs, kSync, true),
    CREMA_CALL(sync_file_range, kSync, true),
    CREMA_CALL(sync, kSync, false),
    CREMA_CALL(msync, kSync, false),
    CREMA_CALL(connect, kNetwork, true),
    CREMA_CALL(accept, kNetwork, true),
    CREMA_CALL(accept4, kNetwork, true),
    CREMA_CALL(recvfrom, kNetwork, true),
    CREMA_CALL(recvmsg, kNetwork, true),
    CREMA_CALL(recvmmsg, kNetwork, true),
    CREMA_CALL(sendto, kNetwork, true),
    CREMA_CALL(sendmsg, kNetwork, true),
    CREMA_CALL(sendmmsg, kNetwork, true),
    CREMA_CALL(ppoll, kPoll, false),
    CREMA_CALL(pselect6, kPoll, false),
    CREMA_CALL(epoll_pwait, kPoll, false),
#ifdef SYS_poll
    CREMA_CALL(poll, kPoll, false),
    CREMA_CALL(select, kPoll, false),
    CREMA_CALL(epoll_wait, kPoll, false),
    CREMA_CALL(pause, kSleep, false),
    CREMA_CALL(open, kOther, false),
    CREMA_CALL(stat, kOther, false),
#endif
    CREMA_CALL(nanosleep, kSleep, false),
    CREMA_CALL(clock_nanosleep, kSleep, false),
    CREMA_CALL(wait4, kChild, false),
    CREMA_CALL(waitid, kChild, false),
    CREMA_CALL(ioctl, kOther, true),
    CREMA_CALL(flock, kOther, true),
    CREMA_CALL(fcntl, kOther, true),
    CREMA_CALL(openat, kOther, false),
    CREMA_CALL(close, kOther, false),
    CREMA_CALL(statx, kOther, false),
    CREMA_CALL(newfstatat, kOther, false),
    CREMA_CALL(renameat2, kOther, false),
    CREMA_CALL(unlinkat, kOther, false),
    CREMA_CALL(mmap, kOther, false),
    CREMA_CALL(munmap, kOther, false),
    CREMA_CALL(madvise, kOther, false),
    CREMA_CALL(execve, kOther, false),
    CREMA_CALL(rt_sigtimedwait, kOther, false),
    CREMA_CALL(rt_sigsuspend, kOther, false),
    CREMA_CALL(semtimedop, kOther, false),
    CREMA_CALL(restart_syscall, kOther, false),
#ifdef SYS_io_uring_enter
    CREMA_CALL(io_uring_enter, kOther, false),
#endif
};
#undef CREMA_CALL

/// The number after the blanks of `*text`, decimal or with 0x; it goes on behind it.
bool NextNumber(const char** text, long long* number) {
  char* end = nullptr;
  *number = static_cast<long long>(strtoull(*text, &end, 0));
  const bool is_number = end != *text;
  *text = end;
  return is_number;
}

/// `0100007F:1F90` as `/proc/net/tcp` has it: the address as the machine stores it, and the port.
std::size_t AppendAddress(std::string_view hex, char* text, std::size_t capacity) {
  const std::size_t colon = hex.find(':');
  if (colon != 8 || hex.size() < 13) return 0;  // of IPv4
  FixedText<16> address(hex.substr(0, 8));
  FixedText<16> port(hex.substr(9, 4));
  const auto number = static_cast<std::uint32_t>(strtoul(address.c_str(), nullptr, 16));
  unsigned char bytes[4];
  memcpy(bytes, &number, sizeof bytes);
  const int size = snprintf(text, capacity, "tcp:%u.%u.%u.%u:%lu", bytes[0], bytes[1], bytes[2], bytes[3],
                            strtoul(port.c_str(), nullptr, 16));
  return size > 0 && static_cast<std::size_t>(size) < capacity ? static_cast<std::size_t>(size) : 0;
}

std::size_t Copy(std::string_view from, char* text, std::size_t capacity) { return from.copy(text, capacity); }

}  // namespace

std::string_view NameOf(WaitKind kind) noexcept { return kKindNames[static_cast<int>(kind)]; }

bool ParseBlockedCall(std::string_view text, BlockedCall* call) noexcept {
  *call = {};
  if (text.substr(0, 7) == "running") return true;
  FixedText<512> copy(text);
  const char* at = copy.c_str();
  const bool is_none = *at == '-';
  char* end = nullptr;
  const long number = strtol(at, &end, 10);
  if (end == at) return false;
  if (is_none) {
    call->kind = WaitKind::kOther;
    call->is_in_no_call = true;
    return true;
  }
  at = end;
  long long first = 0;
  if (!NextNumber(&at, &first)) return false;
  call->kind = WaitKind::kOther;
  for (const Call& known : kCalls) {
    if (known.number != number) continue;
    call->kind = known.kind;
    if (known.has_descriptor) call->descriptor = static_cast<int>(first);
    if (known.kind == WaitKind::kOther) call->call = known.name;
  }
  return true;
}

std::size_t DescribeDescriptor(int descriptor, char* text, std::size_t capacity, std::uint64_t* socket) noexcept {
  constexpr std::string_view kSocket = "socket:[";
  constexpr std::string_view kAnonymous = "anon_inode:";
  *socket = 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, text, capacity);
  if (size <= 0 || static_cast<std::size_t>(size) >= capacity) return 0;
  const std::string_view target(text, static_cast<std::size_t>(size));
  if (target.substr(0, 6) == "pipe:[") return Copy("pipe", text, capacity);
  if (target.substr(0, kAnonymous.size()) == kAnonymous) {
    const FixedText<64> name(target.substr(kAnonymous.size()));
    return Copy(name.view(), text, capacity);
  }
  if (target.substr(0, kSocket.size()) == kSocket) {
    *socket = static_cast<std::uint64_t>(LeadingInteger(target.substr(kSocket.size())).value_or(0));
  }
  return target.size();
}

std::size_t DescribeSocket(std::uint64_t socket, char* text, std::size_t capacity) noexcept {
  constexpr std::size_t kMostBytes = std::size_t{1} << 17;
  constexpr int kRemoteAddress = 2;  // fields of a line (proc_net_tcp)
  constexpr int kInode = 9;
  const FileText file("/proc/self/net/tcp", kMostBytes);
  std::string_view lines = file.view();
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    std::string_view fields[kInode + 1];
    for (std::string_view& field : fields) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      field = line.substr(0, line.find(' '));
      line.remove_prefix(field.size());
    }
    if (LeadingInteger(fields[kInode]) != static_cast<std::int64_t>(socket)) continue;
    const std::size_t size = AppendAddress(fields[kRemoteAddress], text, capacity);
    if (size != 0) return size;
  }
  return Copy("socket", text, capacity);
}

}  // namespace internal
}  // namespace crema
