#include "stacks/call_frame.h"

#include <ucontext.h>

#include <array>

namespace crema::internal {
namespace {

// The rules of .eh_frame: how the registers of a function's caller are found, at each of its instructions.
// The formats: "DWARF Extensions" of the Linux Standard Base 5.0 (.eh_frame, .eh_frame_hdr), and DWARF 5, 6.4.

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

// Numbers of registers in the tables: the psABI of each processor.
#if defined(__x86_64__)
constexpr std::uint64_t kFrameRegister = 6;
constexpr std::uint64_t kStackRegister = 7;
constexpr std::uint64_t kReturnRegister = 16;
#elif defined(__aarch64__)
constexpr std::uint64_t kFrameRegister = 29;
constexpr std::uint64_t kStackRegister = 31;
constexpr std::uint64_t kReturnRegister = 30;
#else
constexpr std::uint64_t kFrameRegister = UINT64_MAX - 2;
constexpr std::uint64_t kStackRegister = UINT64_MAX - 1;
constexpr std::uint64_t kReturnRegister = UINT64_MAX;
#endif

// How a pointer is encoded in a table (LSB 5.0, 10.5.1).
constexpr std::uint8_t kOmitted = 0xff;
constexpr std::uint8_t kFormatMask = 0x0f;
constexpr std::uint8_t kAbsolute = 0x00;
constexpr std::uint8_t kUnsigned4 = 0x03;
constexpr std::uint8_t kUnsigned8 = 0x04;
constexpr std::uint8_t kSigned4 = 0x0b;
constexpr std::uint8_t kSigned8 = 0x0c;
constexpr std::uint8_t kRelativeToPlace = 0x10;
constexpr std::uint8_t kRelationMask = 0x70;
constexpr std::uint8_t kSortedTable = 0x3b;  // relative to the header, 4 bytes, signed

/// Reads numbers and pointers as they are in a piece of a table of .eh_frame; once it is beyond the end, only zeros.
class Cursor {
 public:
  Cursor() = default;
  Cursor(ProcessMemory* memory, std::uintptr_t at, std::uintptr_t end) : memory_(memory), at_(at), end_(end) {}

  bool AtEnd() const { return at_ >= end_; }
  bool ok() const { return ok_; }
  std::uintptr_t at() const { return at_; }
  std::size_t left() const { return end_ - at_; }

  template <class Value>
  Value Take() {
    Value value{};
    if (left() < sizeof value || !Load(memory_, at_, &value)) {
      Fail();
      return Value();
    }
    at_ += sizeof value;
    return value;
  }
  void Skip(std::uint64_t bytes) {
    if (left() < bytes) return Fail();
    at_ += bytes;
  }
  /// The next bytes, which it skips.
  Cursor Part(std::uint64_t bytes) {
    const std::uintptr_t begin = at_;
    Skip(bytes);
    return ok_ ? Cursor(memory_, begin, at_) : Cursor();
  }
  /// A number of any length, 7 bits a byte.
  std::uint64_t Unsigned() { return TakeNumber().value; }
  std::int64_t Signed() {
    Number number = TakeNumber();
    if (number.bits < 64 && (number.last & 0x40) != 0) number.value |= ~std::uint64_t{0} << number.bits;
    return static_cast<std::int64_t>(number.value);
  }
  /// A pointer of this encoding, or only its value if it is not `is_relative`.
  std::uintptr_t Pointer(std::uint8_t encoding, bool is_relative = true) {
    const std::uintptr_t place = at_;
    std::uintptr_t value = 0;
    switch (encoding & kFormatMask) {
      case kAbsolute:
      case kUnsigned8:
      case kSigned8:
        value = Take<std::uint64_t>();
        break;
      case kUnsigned4:
        value = Take<std::uint32_t>();
        break;
      case kSigned4:
        value = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(Take<std::int32_t>()));
        break;
      default:
        Fail();
    }
    const std::uint8_t relation = encoding & kRelationMask;
    if (!is_relative || relation == 0) return value;
    if (relation != kRelativeToPlace) Fail();
    return value + place;
  }

 private:
  struct Number {
    std::uint64_t value = 0;
    unsigned bits = 0;
    std::uint8_t last = 0;
  };
  Number TakeNumber() {
    Number number;
    do {
      number.last = Take<std::uint8_t>();
      if (number.bits < 64) number.value |= static_cast<std::uint64_t>(number.last & 0x7f) << number.bits;
      number.bits += 7;
    } while ((number.last & 0x80) != 0);
    return number;
  }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  ProcessMemory* memory_ = nullptr;
  std::uintptr_t at_ = 0;
  std::uintptr_t end_ = 0;
  bool ok_ = true;
};

/// What functions share.
struct CommonEntry {
  std::uint64_t code_step = 1;
  std::int64_t data_step = 1;
  std::uint64_t return_register = 0;
  std::uint8_t pointers = kAbsolute;
  bool has_augmentation = false;
  bool is_signal_frame = false;
  Cursor instructions;
};

/// The rest of an entry of .eh_frame after its length; not ok where that is not inside the file.
Cursor ContentsOf(const LoadedFile& file, std::uintptr_t entry) {
  if (entry < file.begin || entry >= file.end || file.end - entry < 2 * sizeof(std::uint32_t)) return {};
  std::uint32_t bytes = 0;
  const std::uintptr_t begin = entry + sizeof bytes;
  if (!Load(file.memory, entry, &bytes) || bytes >= 0xfffffff0 || bytes > file.end - begin) return {};
  return {file.memory, begin, begin + bytes};
}

bool ReadCommon(const LoadedFile& file, std::uintptr_t entry, CommonEntry* common) {
  Cursor cursor = ContentsOf(file, entry);
  if (cursor.Take<std::uint32_t>() != 0 || !cursor.ok()) return false;
  const auto version = cursor.Take<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  Cursor augmentation = cursor;
  while (cursor.Take<std::uint8_t>() != 0) {
  }
  common->code_step = cursor.Unsigned();
  common->data_step = cursor.Signed();
  common->return_register = version == 1 ? cursor.Take<std::uint8_t>() : cursor.Unsigned();
  if (!cursor.ok()) return false;
  char letter = augmentation.Take<char>();
  if (letter == 'z') {
    common->has_augmentation = true;
    Cursor data = cursor.Part(cursor.Unsigned());
    while ((letter = augmentation.Take<char>()) != '\0') {
      if (letter == 'R') common->pointers = data.Take<std::uint8_t>();
      if (letter == 'L') data.Take<std::uint8_t>();
      if (letter == 'P') {
        if (const auto encoding = data.Take<std::uint8_t>(); encoding != kOmitted) data.Pointer(encoding, false);
      }
      if (letter == 'S') common->is_signal_frame = true;
    }
    if (!data.ok()) return false;
  } else if (letter != '\0') {
    return false;
  }
  common->instructions = cursor;
  return cursor.ok();
}

/// For an entry of .eh_frame that is a function's.
struct FunctionRules {
  CommonEntry common;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  Cursor instructions;
};

bool ReadFunction(const LoadedFile& file, std::uintptr_t entry, FunctionRules* rules) {
  Cursor cursor = ContentsOf(file, entry);
  const std::uintptr_t place = cursor.at();
  const auto back = cursor.Take<std::uint32_t>();
  if (back == 0 || !cursor.ok()) return false;
  if (!ReadCommon(file, place - back, &rules->common)) return false;
  rules->begin = cursor.Pointer(rules->common.pointers);
  rules->end = rules->begin + cursor.Pointer(rules->common.pointers, false);
  if (rules->common.has_augmentation) cursor.Skip(cursor.Unsigned());
  rules->instructions = cursor;
  return cursor.ok();
}

/// Runs the instructions of a function up to an address.
class RuleMachine {
 public:
  explicit RuleMachine(const FunctionRules& rules) : common_(rules.common), place_(rules.begin) {}

  const UnwindRules& now() const { return now_; }
  void KeepInitial() { initial_ = now_; }

  /// False where an instruction is not known.
  bool Run(Cursor program, std::uintptr_t until) {
    while (!program.AtEnd() && place_ <= until) {
      const auto code = program.Take<std::uint8_t>();
      const std::uint8_t low = code & 0x3f;
      switch (code & 0xc0) {
        case 0x40:
          Advance(low);
          break;
        case 0x80:
          Save(low, static_cast<std::int64_t>(program.Unsigned()) * common_.data_step);
          break;
        case 0xc0:
          Restore(low);
          break;
        default:
          if (!RunOther(low, &program)) return false;
      }
      if (!program.ok()) return false;
    }
    return true;
  }

 private:
  static constexpr int kDeepest = 4;

  void Advance(std::uint64_t steps) { place_ += steps * common_.code_step; }

  void Set(std::uint64_t number, RegisterRule rule) {
    if (number == kFrameRegister) now_.frame = rule;
    if (number == common_.return_register) now_.back = rule;
  }
  void Save(std::uint64_t number, std::int64_t offset) { Set(number, {RegisterRule::kSaved, offset}); }
  void Restore(std::uint64_t number) {
    if (number == kFrameRegister) now_.frame = initial_.frame;
    if (number == common_.return_register) now_.back = initial_.back;
  }
  void SetBase(std::uint64_t number) {
    now_.address.kind = number == kStackRegister   ? AddressRule::kFromStack
                        : number == kFrameRegister ? AddressRule::kFromFrame
                                                   : AddressRule::kUnknown;
  }

  /// The two expressions that compilers and linkers write: of functions that align their stack, and of the procedure
  /// linkage table. DW_OP_breg0 is 0x70, DW_OP_deref 0x06.
  void SetAddressByExpression(Cursor expression) {
    now_.address = AddressRule();
    const auto first = expression.Take<std::uint8_t>();
    const std::int64_t offset = expression.Signed();
    if (first == 0x70 + kFrameRegister && expression.left() == 1 && expression.Take<std::uint8_t>() == 0x06) {
      now_.address = {AddressRule::kSavedAtFrame, offset};
    }
    using Linkage = std::array<std::uint8_t, 9>;
    if (first != 0x70 + kStackRegister || offset != 8 || expression.left() != sizeof(Linkage)) return;
    auto linkage = expression.Take<Linkage>();
    const int from = linkage[4] - 0x30;  // DW_OP_lit0 + n: from n bytes of an entry on, a word was pushed
    linkage[4] = 0;
    if (linkage != Linkage{0x80, 0x00, 0x3f, 0x1a, 0x00, 0x2a, 0x33, 0x24, 0x22}) return;
    if (from >= 0 && from < 0x10) now_.address = {AddressRule::kOfLinkage, from};
  }

  bool RunOther(std::uint8_t code, Cursor* program) {
    const bool is_signed = code == 0x11 || code == 0x12 || code == 0x13;
    const auto offset = [&] {
      const std::int64_t value = is_signed ? program->Signed() : static_cast<std::int64_t>(program->Unsigned());
      return is_signed || code == 0x05 ? value * common_.data_step : value;
    };
    std::uint64_t number = 0;
    switch (code) {
      case 0x00:  // nop
      case 0x2d:  // of aarch64: the return address is signed from here on, or no more
        return true;
      case 0x01:  // set_loc
        place_ = program->Pointer(common_.pointers);
        return true;
      case 0x02:  // advance_loc1, 2, 4
        Advance(program->Take<std::uint8_t>());
        return true;
      case 0x03:
        Advance(program->Take<std::uint16_t>());
        return true;
      case 0x04:
        Advance(program->Take<std::uint32_t>());
        return true;
      case 0x05:  // offset_extended, offset_extended_sf
      case 0x11:
        number = program->Unsigned();
        Save(number, offset());
        return true;
      case 0x06:  // restore_extended
        Restore(program->Unsigned());
        return true;
      case 0x07:  // undefined
        Set(program->Unsigned(), {RegisterRule::kNone, 0});
        return true;
      case 0x08:  // same_value
        Set(program->Unsigned(), RegisterRule());
        return true;
      case 0x09:  // register, val_offset, val_offset_sf
      case 0x14:
      case 0x15:
      case 0x10:  // expression, val_expression: with a block, whose length comes first
      case 0x16: {
        number = program->Unsigned();
        const std::uint64_t value = program->Unsigned();
        if (code == 0x10 || code == 0x16) program->Skip(value);
        Set(number, {RegisterRule::kUnknown, 0});
        return true;
      }
      case 0x0a:  // remember_state
        if (depth_ == kDeepest) return false;
        remembered_[depth_++] = now_;
        return true;
      case 0x0b:  // restore_state
        if (depth_ == 0) return false;
        now_ = remembered_[--depth_];
        return true;
      case 0x0c:  // def_cfa, def_cfa_sf
      case 0x12:
        SetBase(program->Unsigned());
        now_.address.offset = offset();
        return true;
      case 0x0d:  // def_cfa_register
        SetBase(program->Unsigned());
        return true;
      case 0x0e:  // def_cfa_offset, def_cfa_offset_sf
      case 0x13:
        now_.address.offset = offset();
        return true;
      case 0x0f:  // def_cfa_expression
        SetAddressByExpression(program->Part(program->Unsigned()));
        return true;
      case 0x2e:  // GNU_args_size
        program->Unsigned();
        return true;
      default:
        return false;
    }
  }

  const CommonEntry& common_;
  std::uintptr_t place_;
  UnwindRules now_;
  UnwindRules initial_;
  UnwindRules remembered_[kDeepest];
  int depth_ = 0;
};

/// At an instruction of the function; false where the tables say it in a way that is not known here.
bool FindRules(const LoadedFile& file, const FunctionEntry& function, std::uintptr_t address,
               UnwindRules* rules) noexcept {
  FunctionRules found;
  if (!ReadFunction(file, function.rules, &found)) return false;
  rules->is_signal_frame = found.common.is_signal_frame;
  if (rules->is_signal_frame) return true;
  if (found.common.return_register != kReturnRegister) return false;
  RuleMachine machine(found);
  if (!machine.Run(found.common.instructions, UINTPTR_MAX)) return false;
  machine.KeepInitial();
  if (!machine.Run(found.instructions, address)) return false;
  *rules = machine.now();
  return true;
}

/// Reads memory that is the stack's, and no variable's: sanitizers would take it for a mistake.
__attribute__((no_sanitize("address"), no_sanitize("thread"))) bool LoadFromStack(ProcessMemory* memory,
                                                                                  const StackBounds& bounds,
                                                                                  std::uintptr_t address,
                                                                                  std::uintptr_t* value) {
  if (!bounds.Contain(address, sizeof *value)) return false;
  if (memory != nullptr) return Load(memory, address, value);
  *value = *reinterpret_cast<const volatile std::uintptr_t*>(address);
  return true;
}

/// An address without the bits that some processors sign it with.
std::uintptr_t Plain(std::uintptr_t address) {
#if defined(__aarch64__)
  return address & ((std::uintptr_t{1} << 48) - 1);
#else
  return address;
#endif
}

/// Whether `back` is where a call of `function` returns to, directly or through a procedure linkage table.
bool ReturnsFrom(const FunctionEntry& function, std::uintptr_t back, ProcessMemory* memory) {
#if defined(__x86_64__)
  constexpr std::uint8_t kCall = 0xe8;
  constexpr std::uint16_t kJumpBySlot = 0x25ff;
  std::uint8_t code = 0;
  std::int32_t distance = 0;
  LoadedFile caller;
  if (!FindFile(back - 5, &caller, memory) || back > caller.end) return false;
  if (!Load(memory, back - 5, &code) || code != kCall || !Load(memory, back - 4, &distance)) return false;
  const std::uintptr_t target = back + static_cast<std::uintptr_t>(std::intptr_t{distance});
  if (target == function.begin) return true;
  for (const int skipped : {0, 4, 5}) {  // endbr64, and bnd
    const std::uintptr_t jump = target + static_cast<std::uintptr_t>(skipped);
    std::uint16_t opcode = 0;
    std::uintptr_t slot = 0;
    if (jump < caller.begin || jump > caller.end - 6 || !Load(memory, jump, &opcode) || opcode != kJumpBySlot) continue;
    if (!Load(memory, jump + 2, &distance)) continue;
    return Load(memory, jump + 6 + static_cast<std::uintptr_t>(std::intptr_t{distance}), &slot) &&
           slot == function.begin;
  }
#endif
  (void)function;
  (void)back;
  (void)memory;
  return false;
}

/// Where the frame pointer is not known: the nearest place upwards where one can be, beside the way back of a call of
/// this very function. 0: there is none.
std::uintptr_t FindFrame(const FunctionEntry& function, const StackBounds& bounds, std::uintptr_t stack,
                         ProcessMemory* memory) {
  std::uintptr_t back = 0;
  for (std::uintptr_t at = (stack + 15) / 16 * 16; LoadFromStack(memory, bounds, at + sizeof back, &back); at += 16) {
    if (ReturnsFrom(function, back, memory)) return at;
  }
  return 0;
}

bool AddressOf(const AddressRule& rule, const StackBounds& bounds, const FrameRegisters& registers,
               ProcessMemory* memory, std::uintptr_t* address) {
  const auto offset = static_cast<std::uintptr_t>(rule.offset);
  switch (rule.kind) {
    case AddressRule::kFromStack:
      *address = registers.stack + offset;
      return true;
    case AddressRule::kFromFrame:
      *address = registers.frame + offset;
      return true;
    case AddressRule::kSavedAtFrame:
      return LoadFromStack(memory, bounds, registers.frame + offset, address);
    case AddressRule::kOfLinkage:
      *address = registers.stack + 8 + ((registers.pc & 15) >= offset ? 8 : 0);
      return true;
    case AddressRule::kUnknown:
      break;
  }
  return false;
}

/// The program's own handler of a signal ran: the kernel has laid the registers of before on the stack.
Step StepOutOfHandler(const StackBounds& bounds, ProcessMemory* memory, FrameRegisters* registers) {
#if defined(__x86_64__)
  if (memory != nullptr || !bounds.Contain(registers->stack, sizeof(ucontext_t))) return Step::kUnknown;
  const std::uintptr_t stack = registers->stack;
  *registers = RegistersOf(reinterpret_cast<const void*>(stack));
  return registers->stack > stack ? Step::kDone : Step::kUnknown;
#else
  (void)bounds;
  (void)memory;
  (void)registers;
  return Step::kUnknown;
#endif
}

}  // namespace

bool FindFunction(const LoadedFile& file, std::uintptr_t address, FunctionEntry* function) noexcept {
  const std::uintptr_t header = file.unwind_header;
  if (header == 0 || header < file.begin || file.end - header < 12) return false;
  Cursor cursor(file.memory, header, file.end);
  const auto version = cursor.Take<std::uint8_t>();
  const auto frames = cursor.Take<std::uint8_t>();
  const auto counts = cursor.Take<std::uint8_t>();
  if (version != 1 || cursor.Take<std::uint8_t>() != kSortedTable || frames == kOmitted || counts != kUnsigned4) {
    return false;
  }
  cursor.Pointer(frames, false);
  const auto count = cursor.Take<std::uint32_t>();
  struct Row {
    std::int32_t begin = 0;
    std::int32_t rules = 0;
  };
  if (!cursor.ok() || count == 0 || cursor.left() / sizeof(Row) < count) return false;
  const auto row_at = [&](std::uint32_t i) {
    Row row;
    Load(file.memory, cursor.at() + i * sizeof row, &row);
    return row;
  };
  const auto from_header = [header](std::int32_t distance) {
    return header + static_cast<std::uintptr_t>(std::intptr_t{distance});
  };
  std::uint32_t first = 0;  // the last row that does not begin after the address
  std::uint32_t after = count;
  while (after - first > 1) {
    const std::uint32_t middle = first + (after - first) / 2;
    (from_header(row_at(middle).begin) <= address ? first : after) = middle;
  }
  if (from_header(row_at(first).begin) > address) return false;
  function->rules = from_header(row_at(first).rules);
  FunctionRules rules;
  if (!ReadFunction(file, function->rules, &rules)) return false;
  function->begin = rules.begin;
  function->end = rules.end;
  return address >= function->begin && address < function->end;
}

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
  if (now.is_signal_frame) return StepOutOfHandler(bounds, file.memory, registers);
  if (now.back.kind == RegisterRule::kNone) return Step::kOutermost;
  const bool has_frame = now.address.kind == AddressRule::kFromFrame && now.address.offset == 2 * sizeof(void*);
  if (file.memory != nullptr && registers->frame == 0 && has_frame) {
    registers->frame = FindFrame(function, bounds, registers->stack, file.memory);
  }
  std::uintptr_t address = 0;
  if (!AddressOf(now.address, bounds, *registers, file.memory, &address)) return Step::kUnknown;
  if (address < registers->stack || address > bounds.high || address % sizeof(void*) != 0) return Step::kUnknown;
  // What is saved is between the stack pointer and the caller's.
  const auto load = [&](const RegisterRule& rule, std::uintptr_t same, std::uintptr_t* value) {
    *value = same;
    if (rule.kind == RegisterRule::kSame) return true;
    const std::uintptr_t from = address + static_cast<std::uintptr_t>(rule.offset);
    return rule.kind == RegisterRule::kSaved && from >= registers->stack &&
           LoadFromStack(file.memory, bounds, from, value);
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
  LoadFromStack(nullptr, bounds, frame, &caller.frame);
  LoadFromStack(nullptr, bounds, frame + sizeof(void*), &caller.pc);
  caller.pc = Plain(caller.pc);
  caller.stack = frame + 2 * sizeof(void*);
  caller.is_exact = false;
  LoadedFile file;
  if (!FindFile(caller.inside(), &file)) return Step::kUnknown;  // the register held something else
  *registers = caller;
  return Step::kDone;
}

}  // namespace crema::internal
