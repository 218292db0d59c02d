#include "stacks/call_frame.h"

#include <ucontext.h>

namespace crema {
namespace internal {
namespace {

/// Of memory that is the stack's, and of no variable: sanitizers would take it for a mistake.
__attribute__((no_sanitize("address"), no_sanitize("thread"))) std::uintptr_t LoadFromStack(std::uintptr_t address) {
  return *reinterpret_cast<const volatile std::uintptr_t*>(address);
}

/// An address without the bits that some processors sign it with.
std::uintptr_t Plain(std::uintptr_t address) {
#if defined(__aarch64__)
  return address & ((std::uintptr_t{1} << 48) - 1);
#else
  return address;
#endif
}

bool AddressOf(const AddressRule& rule, const StackBounds& bounds, const FrameRegisters& registers,
               std::uintptr_t* address) {
  const auto offset = static_cast<std::uintptr_t>(rule.offset);
  switch (rule.kind) {
    case AddressRule::kFromStack:
      *address = registers.stack + offset;
      return true;
    case AddressRule::kFromFrame:
      *address = registers.frame + offset;
      return true;
    case AddressRule::kSavedAtFrame:
      if (!bounds.Contain(registers.frame + offset, sizeof(void*))) return false;
      *address = LoadFromStack(registers.frame + offset);
      return true;
    case AddressRule::kOfLinkage:
      *address = registers.stack + 8 + ((registers.pc & 15) >= offset ? 8 : 0);
      return true;
    case AddressRule::kUnknown:
      break;
  }
  return false;
}

/// The program's own handler of a signal ran: the kernel has laid the registers of before on the stack.
Step StepOutOfHandler(const StackBounds& bounds, FrameRegisters* registers) {
#if defined(__x86_64__)
  if (!bounds.Contain(registers->stack, sizeof(ucontext_t))) return Step::kUnknown;
  const std::uintptr_t stack = registers->stack;
  *registers = RegistersOf(reinterpret_cast<const void*>(stack));
  return registers->stack > stack ? Step::kDone : Step::kUnknown;
#else
  (void)bounds;
  (void)registers;
  return Step::kUnknown;
#endif
}

}  // namespace

FrameRegisters RegistersOf(const void* signal_context) noexcept {
  const auto* context = static_cast<const ucontext_t*>(signal_context);
  FrameRegisters registers;
#if defined(__x86_64__)
  registers.pc = static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
  registers.stack = static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RSP]);
  registers.frame = static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RBP]);
#elif defined(__aarch64__)
  registers.pc = context->uc_mcontext.pc;
  registers.stack = context->uc_mcontext.sp;
  registers.frame = context->uc_mcontext.regs[29];
  registers.link = context->uc_mcontext.regs[30];
#else
  (void)context;
#endif
  return registers;
}

Step StepOut(const LoadedFile& file, const FunctionEntry& function, const StackBounds& bounds,
             FrameRegisters* registers) noexcept {
  UnwindRules now;
  if (!FindRules(file, function, registers->inside(), &now)) return Step::kUnknown;
  if (now.is_signal_frame) return StepOutOfHandler(bounds, registers);
  if (now.back.kind == RegisterRule::kNone) return Step::kOutermost;
  std::uintptr_t address = 0;
  if (!AddressOf(now.address, bounds, *registers, &address)) return Step::kUnknown;
  if (address < registers->stack || address > bounds.high || address % sizeof(void*) != 0) return Step::kUnknown;
  // What is saved lies between the stack pointer and the caller's.
  const auto load = [&](const RegisterRule& rule, std::uintptr_t same, std::uintptr_t* value) {
    *value = same;
    if (rule.kind == RegisterRule::kSame) return true;
    const std::uintptr_t from = address + static_cast<std::uintptr_t>(rule.offset);
    if (rule.kind != RegisterRule::kSaved || from < registers->stack || !bounds.Contain(from, sizeof(void*)))
      return false;
    *value = LoadFromStack(from);
    return true;
  };
  FrameRegisters caller;
  if (!load(now.back, registers->link, &caller.pc)) return Step::kUnknown;
  if (now.back.kind == RegisterRule::kSame && !registers->is_exact)
    return Step::kUnknown;  // a function that calls saves it
  if (!load(now.frame, registers->frame, &caller.frame)) caller.frame = 0;
  caller.pc = Plain(caller.pc);
  if (caller.pc == 0) return Step::kOutermost;
  caller.stack = address;
  caller.is_exact = false;
  const bool went_on = caller.stack > registers->stack || registers->is_exact;
  *registers = caller;
  return went_on ? Step::kDone : Step::kUnknown;
}

Step StepByFramePointer(const StackBounds& bounds, FrameRegisters* registers) noexcept {
  // The frame pointer points at the caller's, and beside that lies the return address.
  const std::uintptr_t frame = registers->frame;
  if (frame < registers->stack || !bounds.Contain(frame, 2 * sizeof(void*))) return Step::kUnknown;
  FrameRegisters caller;
  caller.frame = LoadFromStack(frame);
  caller.pc = Plain(LoadFromStack(frame + sizeof(void*)));
  caller.stack = frame + 2 * sizeof(void*);
  caller.is_exact = false;
  LoadedFile file;
  if (!FindFile(caller.inside(), &file)) return Step::kUnknown;  // the register held something else
  *registers = caller;
  return Step::kDone;
}

}  // namespace internal
}  // namespace crema
