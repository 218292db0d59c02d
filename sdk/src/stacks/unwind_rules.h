// The rules of .eh_frame: how the registers of a function's caller are found, at each of its instructions.
#ifndef CREMA_SRC_STACKS_UNWIND_RULES_H_
#define CREMA_SRC_STACKS_UNWIND_RULES_H_

#include <cstdint>

#include "stacks/loaded_file.h"

namespace crema {
namespace internal {

// Everything here may run in the handler of a signal: it only reads memory of files that are loaded.

/// A function, or a part of one that the compiler has put elsewhere.
struct FunctionEntry {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  const unsigned char* rules = nullptr;  ///< its entry of .eh_frame
};
/// The function with this address; false where the file's tables do not tell.
bool FindFunction(const LoadedFile& file, std::uintptr_t address, FunctionEntry* function) noexcept;

/// Where the caller's value of a register is.
struct RegisterRule {
  enum Kind : std::uint8_t { kSame, kSaved, kNone, kUnknown };
  Kind kind = kSame;
  std::int64_t offset = 0;  ///< kSaved: from the frame's address
};

/// The frame's address: the stack pointer of the caller.
struct AddressRule {
  enum Kind : std::uint8_t {
    kUnknown,
    kFromStack,
    kFromFrame,
    kSavedAtFrame,  ///< of functions that align their stack
    kOfLinkage,     ///< the procedure linkage table: from `offset` bytes of an entry on, a word was pushed
  };
  Kind kind = kUnknown;
  std::int64_t offset = 0;
};

struct UnwindRules {
  AddressRule address;
  RegisterRule frame;  ///< the frame pointer
  RegisterRule back;   ///< the return address
  /// Not a function's: the kernel has put all registers on the stack, and what follows runs after the handler.
  bool is_signal_frame = false;
};
/// At an instruction of the function; false where the tables say it in a way that is not known here.
bool FindRules(const LoadedFile& file, const FunctionEntry& function, std::uintptr_t address,
               UnwindRules* rules) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_STACKS_UNWIND_RULES_H_
