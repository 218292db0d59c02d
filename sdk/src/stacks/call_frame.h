// A step from a function to the one that called it, by the tables that compilers make for exceptions.
#pragma once

#include "stacks/process_memory.h"

namespace crema::internal {

// Everything here may run in the handler of a signal: it only reads memory, of the stack within its bounds and of files
// that are loaded. Where `LoadedFile::memory` is set, it reads all of that through it: the stack is another thread's.

/// A function, or a part of one that the compiler has put elsewhere.
struct FunctionEntry {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t rules = 0;  ///< its entry of .eh_frame
};
/// The function with this address; false where the file's tables do not say.
bool FindFunction(const LoadedFile& file, std::uintptr_t address, FunctionEntry* function) noexcept;

/// A thread's stack; [low, high). Both 0: not known.
struct StackBounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;

  bool Contain(std::uintptr_t address, std::size_t bytes) const noexcept {
    return address >= low && address < high && high - address >= bytes && address % sizeof(void*) == 0;
  }
};

/// What a step needs to know of the registers.
struct FrameRegisters {
  std::uintptr_t pc = 0;
  std::uintptr_t stack = 0;
  std::uintptr_t frame = 0;  ///< 0: not known
  std::uintptr_t link = 0;   ///< where the processor has one
  /// `pc` is where the function goes on, not where a call returns to.
  bool is_exact = true;

  /// An address inside the instruction that runs: a call may be the last one of its function.
  std::uintptr_t inside() const noexcept { return is_exact ? pc : pc - 1; }
};

/// Those of the point at which a signal struck (`ucontext_t`).
FrameRegisters RegistersOf(const void* signal_context) noexcept;

enum class Step : std::uint8_t {
  kDone,       ///< the registers are the caller's
  kOutermost,  ///< nobody called this function
  kUnknown,
};
/// By the rules of the function that `registers` are in.
Step StepOut(const LoadedFile& file, const FunctionEntry& function, const StackBounds& bounds,
             FrameRegisters* registers) noexcept;
/// By the frame pointer, for code without rules.
Step StepByFramePointer(const StackBounds& bounds, FrameRegisters* registers) noexcept;

}  // namespace crema::internal
