#include "stacks/call_frame.h"

#include <ucontext.h>

#include <cstddef>
#include <cstring>

namespace crema {
namespace internal {
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

// How a pointer stands in a table (LSB 5.0, 10.5.1).
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

template <class Value>
Value Load(const unsigned char* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Reads numbers and pointers as they stand in a piece of a table of .eh_frame; once it is beyond the end, only zeros.
class Cursor {
 public:
  Cursor(const unsigned char* at, const unsigned char* end) : at_(at), end_(end) {}

  bool AtEnd() const { return at_ >= end_; }
  bool ok() const { return ok_; }
  const unsigned char* at() const { return at_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  template <class Value>
  Value Take() {
    if (left() < sizeof(Value)) {
      Fail();
      return Value();
    }
    const Value value = Load<Value>(at_);
    at_ += sizeof(Value);
    return value;
  }
  void Skip(std::uint64_t bytes) {
    if (left() < bytes) return Fail();
    at_ += bytes;
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
    const auto place = reinterpret_cast<std::uintptr_t>(at_);
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

  const unsigned char* at_;
  const unsigned char* end_;
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
  Cursor instructions{nullptr, nullptr};
};

/// The rest of an entry of .eh_frame after its length; not ok where that is not inside the file.
Cursor ContentsOf(const LoadedFile& file, const unsigned char* entry) {
  const auto at = reinterpret_cast<std::uintptr_t>(entry);
  if (at < file.begin || at >= file.end || file.end - at < 2 * sizeof(std::uint32_t)) return {nullptr, nullptr};
  const auto bytes = Load<std::uint32_t>(entry);
  const unsigned char* const begin = entry + sizeof bytes;
  if (bytes >= 0xfffffff0 || bytes > file.end - at - sizeof bytes) return {nullptr, nullptr};
  return {begin, begin + bytes};
}

bool ReadCommon(const LoadedFile& file, const unsigned char* entry, CommonEntry* common) {
  Cursor cursor = ContentsOf(file, entry);
  if (cursor.Take<std::uint32_t>() != 0 || !cursor.ok()) return false;
  const auto version = cursor.Take<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  const unsigned char* augmentation = cursor.at();
  while (cursor.Take<std::uint8_t>() != 0) {
  }
  common->code_step = cursor.Unsigned();
  common->data_step = cursor.Signed();
  common->return_register = version == 1 ? cursor.Take<std::uint8_t>() : cursor.Unsigned();
  if (!cursor.ok()) return false;
  if (*augmentation == 'z') {
    common->has_augmentation = true;
    ++augmentation;
    const std::uint64_t bytes = cursor.Unsigned();
    Cursor data = cursor;
    cursor.Skip(bytes);
    for (; *augmentation != '\0'; ++augmentation) {
      if (*augmentation == 'R') common->pointers = data.Take<std::uint8_t>();
      if (*augmentation == 'L') data.Take<std::uint8_t>();
      if (*augmentation == 'P') {
        const auto encoding = data.Take<std::uint8_t>();
        if (encoding != kOmitted) data.Pointer(encoding, false);
      }
      if (*augmentation == 'S') common->is_signal_frame = true;
    }
    if (!data.ok()) return false;
  } else if (*augmentation != '\0') {
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
  Cursor instructions{nullptr, nullptr};
};

bool ReadFunction(const LoadedFile& file, const unsigned char* entry, FunctionRules* rules) {
  Cursor cursor = ContentsOf(file, entry);
  const unsigned char* const place = cursor.at();
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

  RegisterRule* RuleOf(std::uint64_t number) {
    if (number == kFrameRegister) return &now_.frame;
    return number == common_.return_register ? &now_.back : nullptr;
  }
  void Set(std::uint64_t number, RegisterRule rule) {
    if (RegisterRule* known = RuleOf(number)) *known = rule;
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
  void SetOffset(std::int64_t offset) { now_.address.offset = offset; }

  /// The two expressions that compilers and linkers write: of functions that align their stack, and of the procedure
  /// linkage table. DW_OP_breg0 is 0x70, DW_OP_deref 0x06.
  void SetAddressByExpression(Cursor expression) {
    now_.address = AddressRule();
    const auto first = expression.Take<std::uint8_t>();
    const std::int64_t offset = expression.Signed();
    if (first == 0x70 + kFrameRegister && expression.left() == 1 && *expression.at() == 0x06) {
      now_.address = {AddressRule::kSavedAtFrame, offset};
    }
    static constexpr unsigned char kLinkage[] = {0x80, 0x00, 0x3f, 0x1a, 0x00, 0x2a, 0x33, 0x24, 0x22};
    if (first != 0x70 + kStackRegister || offset != 8 || expression.left() != sizeof kLinkage) return;
    const unsigned char* const rest = expression.at();
    const std::uint8_t from = rest[4];  // DW_OP_lit0 + n: from so many bytes of an entry on, a word was pushed
    if (std::memcmp(rest, kLinkage, 4) != 0 || std::memcmp(rest + 5, kLinkage + 5, 4) != 0) return;
    if (from >= 0x30 && from < 0x40) now_.address = {AddressRule::kOfLinkage, from - 0x30};
  }

  bool RunOther(std::uint8_t code, Cursor* program) {
    const bool is_factored = code == 0x11 || code == 0x12 || code == 0x13;
    const auto offset = [&] {
      return is_factored ? program->Signed() * common_.data_step : static_cast<std::int64_t>(program->Unsigned());
    };
    std::uint64_t number = 0;
    switch (code) {
      case 0x00:  // nop
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
      case 0x05:  // offset_extended
        number = program->Unsigned();
        Save(number, offset() * common_.data_step);
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
      case 0x09:  // register
      case 0x14:  // val_offset
      case 0x15:  // val_offset_sf
        number = program->Unsigned();
        program->Unsigned();
        Set(number, {RegisterRule::kUnknown, 0});
        return true;
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
        SetOffset(offset());
        return true;
      case 0x0d:  // def_cfa_register
        SetBase(program->Unsigned());
        return true;
      case 0x0e:  // def_cfa_offset, def_cfa_offset_sf
      case 0x13:
        SetOffset(offset());
        return true;
      case 0x0f: {  // def_cfa_expression
        const std::uint64_t bytes = program->Unsigned();
        const unsigned char* const begin = program->at();
        program->Skip(bytes);
        if (program->ok()) SetAddressByExpression(Cursor(begin, begin + bytes));
        return true;
      }
      case 0x10:  // expression, val_expression
      case 0x16:
        number = program->Unsigned();
        program->Skip(program->Unsigned());
        Set(number, {RegisterRule::kUnknown, 0});
        return true;
      case 0x11:  // offset_extended_sf
        number = program->Unsigned();
        Save(number, offset());
        return true;
      case 0x2d:  // of aarch64: the return address is signed from here on, or no more
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

bool FindFunction(const LoadedFile& file, std::uintptr_t address, FunctionEntry* function) noexcept {
  const unsigned char* const header = file.unwind_header;
  const auto at = reinterpret_cast<std::uintptr_t>(header);
  if (header == nullptr || at < file.begin || file.end - at < 12) return false;
  const auto frames = header[1];
  const auto counts = header[2];
  if (header[0] != 1 || header[3] != kSortedTable || frames == kOmitted || counts != kUnsigned4) return false;
  Cursor cursor(header + 4, header + (file.end - at));
  cursor.Pointer(frames, false);
  const auto count = cursor.Take<std::uint32_t>();
  struct Row {
    std::int32_t begin;
    std::int32_t rules;
  };
  if (!cursor.ok() || count == 0 || cursor.left() / sizeof(Row) < count) return false;
  const unsigned char* const rows = cursor.at();
  const auto begin_of = [&](std::uint32_t i) {
    return at + static_cast<std::uintptr_t>(std::intptr_t{Load<Row>(rows + i * sizeof(Row)).begin});
  };
  std::uint32_t first = 0;  // the last row that does not begin after the address
  std::uint32_t after = count;
  while (after - first > 1) {
    const std::uint32_t middle = first + (after - first) / 2;
    (begin_of(middle) <= address ? first : after) = middle;
  }
  if (begin_of(first) > address) return false;
  function->rules = header + Load<Row>(rows + first * sizeof(Row)).rules;
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
