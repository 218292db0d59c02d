#include "process/wait_sampler.h"

#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include <cstdio>

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "kernel/proc_file.h"
#include "process/loaded_objects.h"
#include "process/process_recorder.h"
#include "stacks/call_frame.h"

namespace crema::internal {
namespace {

/// As they are in the log, by `WaitKind`.
constexpr std::string_view kKindNames[static_cast<int>(WaitKind::kOther) + 1] = {
    "running",    "lock or condition", "read", "write", "sync", "network", "poll", "sleep", "child process",
    "page fault", "interpreter lock",  "other"};

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
    CREMA_CALL(flock, kLock, true),
    CREMA_CALL(fcntl, kLock, true),
    CREMA_CALL(semtimedop, kLock, false),
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
    CREMA_CALL(msgrcv, kOther, false),
    CREMA_CALL(msgsnd, kOther, false),
    CREMA_CALL(mq_timedreceive, kOther, true),
    CREMA_CALL(mq_timedsend, kOther, true),
    CREMA_CALL(splice, kOther, true),
    CREMA_CALL(io_getevents, kOther, false),
    CREMA_CALL(restart_syscall, kOther, false),
#ifdef SYS_futex_waitv
    CREMA_CALL(futex_waitv, kLock, false),
#endif
#ifdef SYS_epoll_pwait2
    CREMA_CALL(epoll_pwait2, kPoll, false),
#endif
#ifdef SYS_io_uring_enter
    CREMA_CALL(io_uring_enter, kOther, false),
#endif
};
#undef CREMA_CALL

/// The number after the blanks of `*text`, decimal or with 0x; it goes on behind it.
bool NextNumber(const char** text, std::uint64_t* number) {
  char* end = nullptr;
  *number = strtoull(*text, &end, 0);
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

/// A wait for descriptors that names none is a sleep, as that of Python before 3.11.
bool WaitsForNothing(long number, const std::uint64_t* arguments) {
#ifdef SYS_poll
  if (number == SYS_poll) return arguments[1] == 0;
#endif
  if (number == SYS_ppoll) return arguments[1] == 0;
#ifdef SYS_select
  if (number == SYS_select) return arguments[0] == 0;
#endif
  return number == SYS_pselect6 && arguments[0] == 0;
}

/// `text` is that of `/proc/<pid>/task/<tid>/syscall` (proc(5)): "running", or numbers, of which the first is that of
/// the call, -1 for none. False where it is neither.
bool ParseBlockedCall(std::string_view text, BlockedCall* call) noexcept {
  *call = {};
  if (text.substr(0, 7) == "running") return true;
  FixedText<512> copy(text);
  const char* at = copy.c_str();
  char* end = nullptr;
  const long number = strtol(at, &end, 10);
  if (end == at) return false;
  at = end;
  call->kind = WaitKind::kOther;
  call->is_in_no_call = number < 0;
  for (std::uint64_t& argument : call->arguments) {
    if (number >= 0 && !NextNumber(&at, &argument)) return false;
  }
  if (!NextNumber(&at, &call->stack) || !NextNumber(&at, &call->pc)) return false;
  for (const Call& known : kCalls) {
    if (known.number != number) continue;
    call->kind = known.kind;
    if (known.has_descriptor) call->descriptor = static_cast<int>(call->arguments[0]);
    if (known.kind == WaitKind::kOther) call->call = known.name;
  }
  if (call->kind == WaitKind::kPoll && WaitsForNothing(number, call->arguments)) call->kind = WaitKind::kSleep;
  return true;
}

/// What a descriptor of this process is open on: a path, `pipe`, or what the kernel calls it. Written to `text`, with
/// its size returned; 0: not known. `*socket` becomes the inode of a socket, else 0.
std::size_t DescribeDescriptor(int descriptor, char* text, std::size_t capacity, std::uint64_t* socket) noexcept {
  constexpr std::string_view kSocket = "socket:[";
  constexpr std::string_view kAnonymous = "anon_inode:";
  *socket = 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, text, capacity);
  if (size <= 0 || static_cast<std::size_t>(size) >= capacity) return 0;
  const std::string_view target(text, static_cast<std::size_t>(size));
  if (target.substr(0, 6) == "pipe:[") return 4;  // `pipe`
  if (target.substr(0, kAnonymous.size()) == kAnonymous) {
    const FixedText<64> name(target.substr(kAnonymous.size()));
    return name.view().copy(text, capacity);
  }
  if (target.substr(0, kSocket.size()) == kSocket) {
    *socket = static_cast<std::uint64_t>(LeadingInteger(target.substr(kSocket.size())).value_or(0));
  }
  return target.size();
}

/// The other end of a TCP connection, `tcp:10.0.3.17:1094`, or `socket`. The kernel goes through all connections of the
/// machine for it, which may take milliseconds.
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
  return std::string_view("socket").copy(text, capacity);
}

/// Reads a file of `/proc/self/task/<tid>`.
long ReadOfThread(std::int64_t tid, const char* file, char* text, std::size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%lld/%s", static_cast<long long>(tid), file);
  return ReadWholeFile(path, text, capacity);
}

/// How often the thread was given a CPU: if that stays the same, it did not run meanwhile. -1: the kernel does not say.
std::int64_t TurnsOf(std::int64_t tid) {
  char text[128];
  const char* at = text;
  std::uint64_t turns = 0;
  bool is_known = ReadOfThread(tid, "schedstat", text, sizeof text) > 0;
  for (int field = 0; is_known && field < 3; ++field) is_known = NextNumber(&at, &turns);
  return is_known ? static_cast<std::int64_t>(turns) : -1;
}

/// Python's state, with its interpreter lock in it. It is looked for once: a forked child must not wait for the lock of
/// the list of loaded files, which nobody may hold any more.
std::string_view PythonRuntime() {
  static std::atomic<bool> was_asked{false};
  static std::string_view runtime;
  if (!was_asked.exchange(true)) runtime = FindVariable("_PyRuntime");
  return runtime;
}

bool HasAddress(std::string_view bytes, std::uintptr_t address) {
  return address - reinterpret_cast<std::uintptr_t>(bytes.data()) < bytes.size();
}

/// Not the program itself, if that has the C library in it.
bool IsCLibrary(const LoadedFile& file) {
  const std::uintptr_t program = getauxval(AT_PHDR);
  return IsPermanent(file) && (program < file.begin || program >= file.end);
}

/// Whether the kernel function that the thread waits in (proc(5), `wchan`) has one of these names, or a part of it.
bool WaitsIn(std::initializer_list<std::string_view> parts, std::int64_t tid) {
  char name[128];
  const long size = ReadOfThread(tid, "wchan", name, sizeof name);
  const std::string_view text(name, size > 0 ? static_cast<std::size_t>(size) : 0);
  for (const std::string_view part : parts) {
    if (text == part || (part != "0" && text.find(part) != std::string_view::npos)) return true;
  }
  return false;
}

}  // namespace

void WaitSampler::Start(double hertz, bool is_asked) noexcept {
  hertz_ = hertz;
  if (hertz <= 0) return;
  most_threads_ = is_asked ? 32 : 8;
  share_of_core_ = is_asked ? 0.02 : 0.0008;
  seconds_a_look_ = 0;
  filters_ = SeccompFilters();
  PythonRuntime();
  if (is_asked && CanFindFiles()) memory_.reset(MakeOwn<ProcessMemory>());
  if (memory_ != nullptr) {
    const ssize_t size = readlink("/proc/self/exe", target_, sizeof target_);
    program_.CutTo(0);
    program_.Append({target_, size > 0 ? static_cast<std::size_t>(size) : 0});
  }
  random_ = static_cast<std::uint64_t>(MonotonicNanoseconds()) | 1;
}

double WaitSampler::NextDistance() noexcept {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  const double share = static_cast<double>(random_ >> 40) / static_cast<double>(1 << 24);
  return (0.5 + share) * std::max(1 / hertz_, seconds_a_look_ / share_of_core_);
}

void WaitSampler::AddCost(std::int64_t cpu_ns) noexcept {
  constexpr double kWeight = 0.2;  // one look that met a page fault says little of the next ones
  const double seconds = static_cast<double>(cpu_ns - std::exchange(sockets_ns_, 0)) * 1e-9;
  seconds_a_look_ += (seconds_a_look_ == 0 ? 1 : kWeight) * (seconds - seconds_a_look_);
}

std::string_view WaitSampler::refusal() const noexcept {
  switch (error_.load(std::memory_order_relaxed)) {
    case 0:
      return {};
    case ENOENT:
      return "this kernel does not show what a thread waits for";
    case EAGAIN:
      return "the limit of tasks leaves no room for the sampler";
    default:
      return "the kernel does not let this process see what its threads wait for";
  }
}

std::string_view WaitSampler::TextOf(std::uint32_t number) const noexcept {
  return number < text_count_.load(std::memory_order_acquire) ? text_of_[number] : std::string_view();
}

std::uint32_t WaitSampler::NumberOf(std::string_view text) noexcept {
  const std::uint32_t count = text_count_.load(std::memory_order_relaxed);
  for (std::uint32_t number = 1; number < count; ++number) {
    if (text_of_[number] == text) return number;
  }
  if (text.empty() || count > kMostTexts || !texts_.Copy(text, &text_of_[count])) return 0;
  text_count_.store(count + 1, std::memory_order_release);
  return count;
}

void WaitSampler::Look(Recorder* recorder) noexcept {
  if (hertz_ <= 0 || error_.load(std::memory_order_relaxed) != 0) return;
  const auto is_at_work = [](const ThreadState* thread) { return thread->open_use.load() != 0; };
  std::uint64_t at_work = 0;
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    at_work += is_at_work(thread) ? 1 : 0;
  }
  if (at_work == 0) return;
  // The SDK asked for the target of a link as it began; a filter that came since may not list that call.
  may_describe_ = filters_ >= 0 && SeccompFilters() == filters_;
  may_read_memory_ = may_describe_ && memory_ != nullptr && memory_->Open();
  const auto most = static_cast<std::uint64_t>(most_threads_);
  first_ = at_work > most ? (first_ + most) % at_work : 0;
  std::uint64_t index = 0;
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    if (!is_at_work(thread)) continue;
    if ((index++ + at_work - first_) % at_work < most) LookAt(recorder, thread);
  }
  CloseInherited();
}

std::uint32_t WaitSampler::HolderOf(Recorder* recorder, const BlockedCall& call) noexcept {
  // A lock of glibc that is held and waited for is 2, and 8 bytes further is the thread that holds it.
  struct {
    std::uint32_t value;
    std::uint32_t count;
    std::uint32_t owner;
  } mutex;
  const bool may_be_lock =
      (call.arguments[1] & static_cast<unsigned>(FUTEX_CMD_MASK)) == FUTEX_WAIT && call.arguments[2] == 2;
  if (!may_be_lock || !memory_->ReadNow(call.arguments[0], &mutex, sizeof mutex)) return 0;
  if (mutex.value == 0 || mutex.owner == 0) return 0;
  const ThreadState* holder = recorder->first_thread();
  while (holder != nullptr && (!holder->in_use.load() || holder->tid != mutex.owner)) holder = holder->next;
  char text[64];
  const bool may_be_elsewhere = (call.arguments[1] & FUTEX_PRIVATE_FLAG) == 0;
  if (holder == nullptr && may_be_elsewhere && ReadOfThread(mutex.owner, "stat", text, sizeof text) <= 0) {
    return NumberOf("held by another process");
  }
  if (holder == nullptr) return NumberOf("held by a thread without guards");
  const std::uint64_t use = holder->open_use.load();
  if (use == 0) return NumberOf("held by a thread without a chunk");
  // Its sections may go away as they are read: then it has another frame in use afterwards.
  struct {
    const SectionNode* parent;
    SectionNode** cursor;
    std::uint32_t uncaught_exceptions;
    std::uint32_t name_length;
  } node;
  constexpr std::size_t kOffset = offsetof(SectionNode, parent);
  static_assert(offsetof(SectionNode, name_length) == kOffset + sizeof node - sizeof node.name_length);
  std::size_t first = sizeof target_;
  const SectionNode* at = holder->current.load(std::memory_order_acquire);
  while (memory_->ReadNow(reinterpret_cast<std::uintptr_t>(at) + kOffset, &node, sizeof node) &&
         node.parent != nullptr && node.name_length < first) {
    if (first != sizeof target_) target_[--first] = '/';
    first -= node.name_length;
    if (!memory_->ReadNow(reinterpret_cast<std::uintptr_t>(at + 1), target_ + first, node.name_length)) return 0;
    at = node.parent;
  }
  if (holder->open_use.load() != use) return 0;
  constexpr std::string_view kHeld = "held by section ";
  if (first == sizeof target_) return NumberOf("held outside sections");
  if (first < kHeld.size()) return 0;
  first -= kHeld.size();
  kHeld.copy(target_ + first, kHeld.size());
  return NumberOf({target_ + first, sizeof target_ - first});
}

bool WaitSampler::AppendFunction(const LoadedFile& file, std::uintptr_t address, bool is_in_last_file) noexcept {
  link_map map = {};
  if (!Load(file.memory, reinterpret_cast<std::uintptr_t>(file.map), &map)) return false;
  char number[32];
  snprintf(number, sizeof number, "+0x%llx", static_cast<unsigned long long>(address - map.l_addr));
  if (!is_in_last_file) functions_.Append(HexOf(BuildIdOf(file)).view());
  functions_.Append(number);
  if (!is_in_last_file) {
    std::size_t size = 0;
    const auto name = reinterpret_cast<std::uintptr_t>(map.l_name);
    while (size < sizeof target_ && file.memory->Read(name + size, &target_[size], 1) && target_[size] != '\0') ++size;
    functions_.Append(" ");
    functions_.Append(size == 0 ? program_.view() : std::string_view(target_, size));  // the program itself has none
  }
  functions_.Append("\n");
  LoadedFile now;
  return FindFile(file.begin, &now) && now.map == file.map && now.end == file.end;
}

std::uint32_t WaitSampler::StackOf(const ThreadState& thread, std::int64_t turns, std::string_view line,
                                   const BlockedCall& call) noexcept {
  constexpr int kMostFunctions = 12;
  const StackBounds bounds = {call.stack, memory_->CopyStack(call.stack)};
  char now[256];
  const long now_size = ReadOfThread(thread.tid, "syscall", now, sizeof now);
  if (now_size <= 0 || line != std::string_view(now, static_cast<std::size_t>(now_size))) return 0;
  if (TurnsOf(thread.tid) != turns) return 0;
  FrameRegisters registers = {call.pc, call.stack};
  functions_.CutTo(0);
  LoadedFile last;
  std::size_t begin = 0;
  for (int functions = 0; functions < kMostFunctions;) {
    LoadedFile file;
    FunctionEntry function;
    if (!FindFile(registers.inside(), &file, memory_.get())) {
      functions_.Append("(generated code)\n");
      break;
    }
    const bool has_rules = FindFunction(file, registers.inside(), &function);
    // Keeps only the outermost of the C library's functions: it has a name that the program knows.
    const bool is_in_last_file = file.map == last.map;
    const bool replaces_last = is_in_last_file && IsCLibrary(file);
    if (replaces_last) functions_.CutTo(begin);
    begin = functions_.view().size();
    if (!AppendFunction(file, has_rules ? function.begin : registers.inside(), is_in_last_file && !replaces_last) ||
        functions_.view().size() == PATH_MAX) {
      functions_.CutTo(begin);
      break;
    }
    last = file;
    functions += replaces_last ? 0 : 1;
    if (!has_rules || StepOut(file, function, bounds, &registers) != Step::kDone) break;
  }
  return NumberOf(functions_.view());
}

std::uint32_t WaitSampler::ObjectOf(const BlockedCall& call, bool* is_socket) noexcept {
  constexpr std::int64_t kBetweenSocketsNs = 1000000000;
  constexpr double kShareOfLooks = 0.25;  // beside them: the kernel's table may take 10 ms to read
  if (call.descriptor < 0) return NumberOf(call.call);
  if (!may_describe_) return 0;
  std::uint64_t socket = 0;
  const std::size_t described = DescribeDescriptor(call.descriptor, target_, sizeof target_, &socket);
  *is_socket = socket != 0;
  if (socket == 0) return NumberOf({target_, described});
  for (const Socket& known : sockets_) {
    if (known.inode == socket) return known.object;
  }
  const std::int64_t now_ns = MonotonicNanoseconds();
  if (now_ns < next_socket_ns_) return NumberOf("socket");
  const MaybeInteger begin_ns = ThreadCpu();
  Socket& found = sockets_[socket_count_++ % kSockets];
  found = {socket, NumberOf({target_, DescribeSocket(socket, target_, sizeof target_)})};
  sockets_ns_ = Difference(ThreadCpu(), begin_ns).value_or(0);
  const double pause_ns = static_cast<double>(sockets_ns_) / (kShareOfLooks * share_of_core_);
  next_socket_ns_ = now_ns + std::max(kBetweenSocketsNs, static_cast<std::int64_t>(pause_ns));
  return found.object;
}

void WaitSampler::LookAt(Recorder* recorder, ThreadState* thread) noexcept {
  WaitTable* table = thread->waits.load(std::memory_order_relaxed);
  if (table == nullptr) {
    table = MakeOwn<WaitTable>();
    if (table == nullptr) return;
    thread->waits.store(table, std::memory_order_release);
  }
  // The section before the wait: a thread that goes on meanwhile may be in another one afterwards.
  const std::uint64_t switches = thread->switches();
  const std::uint64_t use = thread->open_use.load(std::memory_order_acquire);
  const SectionNode* const section = thread->current.load(std::memory_order_acquire);
  char text[256];
  const long size = ReadOfThread(thread->tid, "syscall", text, sizeof text);
  if (size <= 0) {
    const int error = static_cast<int>(-size);
    // A thread that has ended has no such file either.
    const bool has_none = error == ENOENT && ReadWholeFile("/proc/thread-self/syscall", text, sizeof text) <= 0;
    if (error == EACCES || error == EPERM || has_none) Refuse(error);
    return;
  }
  BlockedCall call;
  const std::string_view line(text, static_cast<std::size_t>(size));
  if (!ParseBlockedCall(line, &call) || use == 0 || (switches & 1) != 0 || thread->switches() != switches) return;
  // In no call it waits for memory that it touched. "0": it waits no longer, and only pages come so soon.
  if (call.is_in_no_call && WaitsIn({"0", "folio", "page", "swap", "fault", "filemap"}, thread->tid)) {
    call.kind = WaitKind::kPageFault;
  }
  if (call.kind == WaitKind::kLock && HasAddress(PythonRuntime(), call.arguments[0])) {
    call.kind = WaitKind::kInterpreterLock;
  }
  bool is_socket = false;
  std::uint32_t object = ObjectOf(call, &is_socket);
  if (is_socket && call.kind != WaitKind::kOther) call.kind = WaitKind::kNetwork;
  const bool moves_bytes = may_describe_ && (call.kind == WaitKind::kRead || call.kind == WaitKind::kWrite);
  if (moves_bytes && WaitsIn({"pipe"}, thread->tid)) object = NumberOf("pipe");  // which may have a path
  std::uint32_t stack = 0;
  const bool is_blocked = call.kind != WaitKind::kRunning;
  const std::int64_t turns = is_blocked && may_read_memory_ ? TurnsOf(thread->tid) : -1;
  if (turns >= 0) {
    if (table->turns != turns || table->line.view() != line) table->stack = StackOf(*thread, turns, line, call);
    table->turns = turns;
    table->line = FixedText<256>(line);
    stack = table->stack;
    if (call.kind == WaitKind::kLock && call.descriptor < 0) object = HolderOf(recorder, call);
  }
  looks_.fetch_add(1, std::memory_order_relaxed);
  WaitCell* free = nullptr;
  for (WaitCell& cell : table->cells) {
    if (cell.count.load(std::memory_order_acquire) == 0) {
      if (free == nullptr) free = &cell;
      continue;
    }
    if (cell.use == use && cell.section == section && cell.kind == call.kind && cell.object == object &&
        cell.stack == stack) {
      cell.count.fetch_add(1, std::memory_order_acq_rel);
      return;
    }
  }
  if (free == nullptr) return;
  free->use = use;
  free->section = section;
  free->kind = call.kind;
  free->object = object;
  free->stack = stack;
  free->count.store(1, std::memory_order_release);
}

void TakeWaits(ThreadState* thread, OpenWork* frame, std::string_view prefix) noexcept {
  WaitTable* const table = thread->waits.load(std::memory_order_acquire);
  Recorder* const recorder = table == nullptr ? nullptr : CurrentRecorder();
  if (recorder == nullptr) return;
  for (WaitCell& cell : table->cells) {
    if (cell.count.load(std::memory_order_acquire) == 0) continue;
    bool is_open_around = false;
    for (const OpenWork* outer = frame->outer; outer != nullptr; outer = outer->outer) {
      is_open_around = is_open_around || outer->use == cell.use;
    }
    if (is_open_around) continue;
    const std::uint64_t use = cell.use;
    const SectionNode* const section = cell.section;
    const std::string_view kind = kKindNames[static_cast<int>(cell.kind)];
    const std::uint32_t object = cell.object;
    const std::uint32_t stack = cell.stack;
    const std::uint32_t count = cell.count.exchange(0, std::memory_order_acq_rel);
    if (use != frame->use) continue;  // it came too late for a frame that is over
    frame->data.AddWait(prefix, section, kind, recorder->waits.TextOf(object), recorder->waits.TextOf(stack), count);
  }
}

}  // namespace crema::internal
