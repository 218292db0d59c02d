#include "stacks/stacks_line.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>

#include "crema/internal/section_node.h"
#include "kernel/clock.h"
#include "log/json_line.h"
#include "process/process_recorder.h"
#include "stacks/stack_table.h"
#include "storage/arena.h"
#include "storage/own_memory.h"

namespace crema {
namespace internal {
namespace {

/// Frames in a line: what they and their functions take in it stays below what readers take.
constexpr std::size_t kMostFramesInLine = 5000;

bool WriteFields(Recorder* recorder, std::string_view fields) {
  JsonLine line;
  line.Raw("{\"type\":\"stacks\"");
  line.Field("time_ns", recorder->clock.UnixNanoseconds(MonotonicNanoseconds()));
  line.Raw(fields);
  line.Raw("}\n");
  return recorder->log.Write(line);
}

/// If the log is stopped, the room that is left is for sums.
bool HasRoom(const Recorder& recorder) { return !recorder.log.limits().is_stopped(); }

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Writes the lines of a table.
class LineWriter {
 public:
  LineWriter(Recorder* recorder, const StackTable& table)
      : recorder_(recorder), table_(table), program_(MakeOwnArray<char>(PATH_MAX)) {  // stacks may be small
    const ssize_t size = program_ == nullptr ? 0 : readlink("/proc/self/exe", program_.get(), PATH_MAX);
    program_bytes_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  }

  void WritePlace(std::uint16_t place) {
    const StackTable::Stack* first = table_.begin();
    while (first != table_.end()) {
      const StackTable::Stack* after = first;
      std::size_t frames = 0;
      for (; after != table_.end() && frames < kMostFramesInLine; ++after) {
        if (after->place == place) frames += after->depth;
      }
      if (frames != 0) WriteLine(place, first, after, SampleCount());
      first = after;
    }
    const SampleCount& other = table_.place(place).other;
    if (other.samples != 0) WriteLine(place, table_.end(), table_.end(), other);
  }

 private:
  void WriteLine(std::uint16_t place, const StackTable::Stack* first, const StackTable::Stack* after,
                 const SampleCount& other) {
    line_.Clear();
    AppendPlace(table_.place(place));
    FindFunctions(place, first, after);
    AppendFiles();
    AppendFunctions(other.samples != 0);
    line_.Raw(",\"stacks\":[");
    for (const StackTable::Stack* stack = first; stack != after; ++stack) {
      if (stack->place == place) AppendStack(*stack);
    }
    if (other.samples != 0) {
      BeginRow(other);
      line_.Raw(",0]");
    }
    line_.Raw("]");
    if (line_.broken()) {
      recorder_->stacks.Refuse(recorder_, NoStacks::kNoMemory);
    } else if (HasRoom(*recorder_) && WriteFields(recorder_, line_.text())) {
      return;
    } else {
      recorder_->stacks.Refuse(recorder_, NoStacks::kNoRoomInLog);
    }
    std::uint64_t lost = other.samples;
    for (const StackTable::Stack* stack = first; stack != after; ++stack) {
      if (stack->place == place) lost += stack->count.samples;
    }
    recorder_->stacks.CountLost(lost);
  }

  void AppendPlace(const StackTable::Place& place) {
    const std::string_view dataset = table_.DatasetOf(place);
    line_.Raw(dataset.empty() ? std::string_view(",\"dataset\":null") : dataset);
    line_.Raw(",\"section\":\"");
    std::string_view rest = table_.NamesOf(place);
    std::string_view name;
    for (bool is_first = true; StackTable::NextName(&rest, &name); is_first = false) {
      if (!is_first) line_.Raw("/");
      line_.StringPart(name, true);
    }
    line_.Raw("\"");
    line_.FieldNumber("hertz", recorder_->stacks.hertz());
  }

  /// `functions_`: each frame of the stacks once, sorted.
  void FindFunctions(std::uint16_t place, const StackTable::Stack* first, const StackTable::Stack* after) {
    functions_.Clear();
    for (const StackTable::Stack* stack = first; stack != after; ++stack) {
      if (stack->place != place) continue;
      for (std::size_t i = 0; i < stack->depth; ++i) {
        StackFrame* const function = functions_.Add();
        if (function == nullptr) return line_.Break();
        *function = table_.FramesOf(*stack)[i];
      }
    }
    std::sort(functions_.begin(), functions_.end());
    functions_.CutTo(static_cast<std::size_t>(std::unique(functions_.begin(), functions_.end()) - functions_.begin()));
  }

  std::string_view PathOf(const StackTable::File& file) const {
    const std::string_view path = table_.PathOf(file);
    return path.empty() ? std::string_view(program_.get(), program_bytes_) : path;  // the program itself has none
  }

  /// The name by which functions of a line name their file: its own without the directories, where no other has it.
  std::string_view NameOf(const StackTable::File& file) const {
    const std::string_view path = PathOf(file);
    for (std::uint32_t i = 0; i < table_.files(); ++i) {
      const StackTable::File& other = table_.file(i);
      const bool is_same = PathOf(other) == path && other.build_id == file.build_id;
      if (!is_same && LastPart(PathOf(other)) == LastPart(path)) return path;
    }
    return LastPart(path);
  }

  void AppendFiles() {
    line_.Raw(",\"modules\":[");
    const StackTable::File* last = nullptr;
    for (const StackFrame function : functions_) {  // they are sorted by file
      const bool has_file = function >> kFrameAddressBits != 0;
      if (!has_file || &table_.FileOf(function) == last) continue;
      last = &table_.FileOf(function);
      line_.Raw(line_.EndsWith('[') ? std::string_view("[") : std::string_view(",["));
      line_.String(NameOf(*last));
      line_.Raw(",");
      line_.String(PathOf(*last));
      line_.Raw(",");
      AppendBuildId(last->build_id);
      line_.Raw("]");
    }
    line_.Raw("]");
  }

  void AppendBuildId(const BuildId& id) {
    if (id.size == 0) return line_.Raw("null");
    line_.Raw("\"");
    for (std::size_t i = 0; i < id.size; ++i) AppendHex(id.bytes[i], 2);
    line_.Raw("\"");
  }

  void AppendHex(std::uint64_t value, int least_digits) {
    char digits[16];
    int first = 16;
    do {
      digits[--first] = "0123456789abcdef"[value & 15];
      value >>= 4;
    } while (value != 0 || 16 - first < least_digits);
    line_.Raw(std::string_view(digits + first, static_cast<std::size_t>(16 - first)));
  }

  void AppendFunctions(bool is_other) {
    line_.Raw(",\"functions\":[");
    if (is_other) line_.Raw("[\"(other)\",null,null]");
    const StackTable::File* last = nullptr;
    std::string_view name;
    for (const StackFrame function : functions_) {
      line_.Raw(line_.EndsWith('[') ? std::string_view("[\"") : std::string_view(",[\""));
      if (function == kOuterFrames) {
        line_.Raw("(outer frames)");
      } else if (function == kGeneratedCode) {
        line_.Raw("(generated code)");
      } else if (function == kUnkeptFile) {
        line_.Raw("(other)");
      } else {
        const StackTable::File* const file = &table_.FileOf(function);
        if (file != last) name = NameOf(*file);
        last = file;
        line_.StringPart(name, false);
        line_.Raw("+0x");
        AppendHex(function & ((StackFrame{1} << kFrameAddressBits) - 1), 1);
      }
      line_.Raw("\",null,null]");
    }
    line_.Raw("]");
  }

  void BeginRow(const SampleCount& count) {
    line_.Raw(line_.EndsWith('[') ? std::string_view("[") : std::string_view(",["));
    line_.Unsigned(count.samples);
    line_.Raw(",");
    line_.Unsigned(count.squares);
  }

  void AppendStack(const StackTable::Stack& stack) {
    BeginRow(stack.count);
    for (std::size_t i = stack.depth; i-- > 0;) {  // the outermost first
      line_.Raw(",");
      const StackFrame* const at = std::lower_bound(functions_.begin(), functions_.end(), table_.FramesOf(stack)[i]);
      line_.Unsigned(static_cast<std::uint64_t>(at - functions_.begin()));
    }
    line_.Raw("]");
  }

  Recorder* recorder_;
  const StackTable& table_;
  JsonLine line_;
  RowTable<StackFrame> functions_;
  const OwnArray<char> program_;
  std::size_t program_bytes_ = 0;
};

}  // namespace

bool WriteStacks(std::string_view fields, std::int64_t cost_ns) noexcept {
  Recorder* recorder = Recording() ? CurrentRecorder() : nullptr;
  if (recorder == nullptr) return false;
  recorder->stacks.LeaveToInterpreter();
  AddCost(cost_ns);
  if (fields.empty()) return true;
  const bool is_one_line = std::none_of(fields.begin(), fields.end(),
                                        [](char character) { return static_cast<unsigned char>(character) < ' '; });
  if (!is_one_line) {
    CountDropped();
    return false;
  }
  JsonLine line;
  line.Raw(",");
  line.Raw(fields);
  if (!HasRoom(*recorder)) {
    recorder->stacks.Refuse(recorder, NoStacks::kNoRoomInLog);
    return false;
  }
  if (line.broken()) {
    CountDropped();
    return false;
  }
  return WriteFields(recorder, line.text());
}

void WriteCountedStacks(Recorder* recorder, const StackTable& table) noexcept {
  LineWriter writer(recorder, table);
  for (std::uint16_t place = 0; place < table.places(); ++place) writer.WritePlace(place);
}

void WriteStacksRefused(Recorder* recorder, const char* reason) noexcept {
  JsonLine line;
  line.Raw(",\"dataset\":null,\"section\":\"\"");
  line.FieldNumber("hertz", recorder->stacks.hertz());
  line.Raw(",\"functions\":[],\"stacks\":[]");
  line.FieldText("refused", reason);
  WriteFields(recorder, line.text());
}

}  // namespace internal
}  // namespace crema
