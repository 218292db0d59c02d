// Traces the system calls of a function, or counts its instructions, by ptrace(2). It needs neither root nor strace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace crema_benchmarks {

struct SystemCall {
  std::uint64_t number = 0;  ///< asm/unistd.h
  std::uint64_t bytes = 0;   ///< of read, write, pread and pwrite; 0 for others
  bool operator==(const SystemCall& other) const { return number == other.number && bytes == other.bytes; }
};

struct SystemCallTrace {
  std::vector<SystemCall> calls;
  std::string complaint;  ///< why there is none; empty if there is
};

/// Calls `prepare`, then `traced`, in a forked child, and returns the system calls of the second. Linux 5.3 or later.
SystemCallTrace TraceSystemCalls(const std::function<void()>& prepare, const std::function<void()>& traced);

struct InstructionCount {
  std::int64_t instructions = 0;
  std::string complaint;  ///< why it is not known; empty if it is
};

/// Calls `prepare`, then `counted`, in a forked child, and follows the second step by step. Some hundred instructions
/// around it count, too: compare two functions. Takes some microseconds an instruction.
InstructionCount CountInstructions(const std::function<void()>& prepare, const std::function<void()>& counted);

/// `write(1742)`, `pread64(127)`, `fstat`: for messages.
std::string ToText(const SystemCall& call);

}  // namespace crema_benchmarks
