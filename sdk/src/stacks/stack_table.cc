#include "stacks/stack_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "chunk/thread_state.h"
#include "crema/internal/section_node.h"
#include "kernel/clock.h"
#include "log/json_line.h"
#include "storage/arena.h"

namespace crema::internal {
namespace {

constexpr std::uint64_t kHashBegin = 14695981039346656037u;  // FNV-1a
constexpr std::uint64_t kHashStep = 1099511628211u;
constexpr StackFrame kAddressMask = (StackFrame{1} << kFrameAddressBits) - 1;

std::uint64_t HashOf(std::string_view bytes) {
  std::uint64_t hash = kHashBegin;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * kHashStep;
  return hash;
}

std::uint64_t HashOf(std::uint16_t place, const StackFrame* frames, std::size_t depth) {
  std::uint64_t hash = (kHashBegin ^ place) * kHashStep;
  for (std::size_t i = 0; i < depth; ++i) {
    hash = (hash ^ frames[i]) * kHashStep;
    hash ^= hash >> 29;  // the multiplication carries upwards only
  }
  return hash;
}

/// Hands out pieces of a block; of a block that begins at nullptr only its size is of use.
class Pieces {
 public:
  explicit Pieces(char* block) : block_(block) {}
  template <class Row>
  Row* Take(std::size_t rows) {
    used_ = (used_ + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
    char* const piece = block_ == nullptr ? nullptr : block_ + used_;
    used_ += rows * sizeof(Row);
    return reinterpret_cast<Row*>(piece);
  }
  std::size_t used() const { return used_; }

 private:
  char* block_;
  std::size_t used_ = 0;
};

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
    if (!line_.broken() && HasRoom(*recorder_) && WriteFields(recorder_, line_.text())) return;
    recorder_->stacks.Refuse(recorder_, line_.broken() ? NoStacks::kNoMemory : NoStacks::kNoRoomInLog);
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
      last->build_id.size == 0 ? line_.Raw("null") : line_.String(HexOf(last->build_id).view());
      line_.Raw("]");
    }
    line_.Raw("]");
  }

  void AppendHex(std::uint64_t value) {
    char digits[16];
    const char* const end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
    line_.Raw(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }

  void AppendFunctions(bool is_other) {
    static constexpr std::string_view kOfNoFile[] = {"", "(outer frames)", "(generated code)", "(other)"};
    line_.Raw(",\"functions\":[");
    if (is_other) line_.Raw("[\"(other)\",null,null]");
    const StackTable::File* last = nullptr;
    std::string_view name;
    for (const StackFrame function : functions_) {
      line_.Raw(line_.EndsWith('[') ? std::string_view("[\"") : std::string_view(",[\""));
      if (function <= kUnkeptFile) {
        line_.Raw(kOfNoFile[function]);
      } else {
        const StackTable::File* const file = &table_.FileOf(function);
        if (file != last) name = NameOf(*file);
        last = file;
        line_.StringPart(name, false);
        line_.Raw("+0x");
        AppendHex(function & kAddressMask);
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

StackTable* StackTable::Make(const Room& room) noexcept {
  const auto divide = [&room](char* block, StackTable* table) {
    Pieces pieces(block);
    pieces.Take<StackTable>(1);
    table->stacks_ = pieces.Take<Stack>(room.stacks);
    table->slots_ = pieces.Take<std::uint32_t>(std::size_t{2} * room.stacks);
    table->frames_ = pieces.Take<StackFrame>(room.frames);
    table->places_ = pieces.Take<Place>(room.places);
    table->files_ = pieces.Take<File>(room.files);
    table->texts_ = pieces.Take<char>(room.text_bytes);
    return pieces.used();
  };
  StackTable nowhere(room);
  const std::size_t bytes = divide(nullptr, &nowhere);
  void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  auto* const table = new (block) StackTable(room);
  divide(static_cast<char*>(block), table);
  table->Clear();
  return table;
}

void StackTable::Clear() noexcept {
  if (stack_count_ != 0) std::memset(slots_, 0, sizeof *slots_ * 2 * room_.stacks);
  stack_count_ = frame_count_ = place_count_ = file_count_ = text_bytes_ = text_tail_ = 0;
  counted_ = 0;
  new (&places_[0]) Place();
  AppendText("(other)");
  KeepPlace(0);
}

bool StackTable::AppendText(std::string_view text) noexcept {
  const auto bytes = static_cast<std::uint16_t>(text.size());
  if (text.size() > UINT16_MAX || room_.text_bytes - text_bytes_ - text_tail_ < sizeof bytes + text.size())
    return false;
  char* const to = texts_ + text_bytes_ + text_tail_;
  std::memcpy(to, &bytes, sizeof bytes);
  if (!text.empty()) std::memcpy(to + sizeof bytes, text.data(), text.size());
  text_tail_ += static_cast<std::uint32_t>(sizeof bytes + text.size());
  return true;
}

std::uint16_t StackTable::KeepPlace(std::uint32_t dataset_bytes) noexcept {
  const std::string_view text(texts_ + text_bytes_, text_tail_);
  const std::uint64_t hash = HashOf(text);
  text_tail_ = 0;
  for (std::uint32_t i = 0; i < place_count_; ++i) {
    const Place& place = places_[i];
    if (place.hash == hash && place.dataset_bytes == dataset_bytes &&
        std::string_view(texts_ + place.text, place.bytes) == text) {
      return static_cast<std::uint16_t>(i);
    }
  }
  if (place_count_ == room_.places) return 0;
  const auto bytes = static_cast<std::uint32_t>(text.size());
  new (&places_[place_count_]) Place{hash, text_bytes_, bytes, dataset_bytes, {}};
  text_bytes_ += bytes;
  return static_cast<std::uint16_t>(place_count_++);
}

std::uint16_t StackTable::PlaceOf(std::string_view dataset, const std::string_view* names, std::size_t depth) noexcept {
  if (dataset.size() > room_.text_bytes - text_bytes_) return 0;
  if (!dataset.empty()) std::memcpy(texts_ + text_bytes_, dataset.data(), dataset.size());
  text_tail_ = static_cast<std::uint32_t>(dataset.size());
  for (std::size_t i = 0; i < depth; ++i) {
    if (!AppendText(names[i])) return 0;
  }
  return KeepPlace(static_cast<std::uint32_t>(dataset.size()));
}

std::uint32_t StackTable::KeepFile(const File& file, std::string_view path) noexcept {
  for (std::uint32_t i = 0; i < file_count_; ++i) {
    if (files_[i].begin == file.begin && files_[i].build_id == file.build_id && PathOf(files_[i]) == path) return i + 1;
  }
  if (file_count_ == room_.files || path.size() > room_.text_bytes - text_bytes_) return 0;
  File* const kept = new (&files_[file_count_]) File(file);
  kept->path = text_bytes_;
  kept->path_bytes = static_cast<std::uint32_t>(path.size());
  if (!path.empty()) std::memcpy(texts_ + text_bytes_, path.data(), path.size());
  text_bytes_ += kept->path_bytes;
  return ++file_count_;
}

StackFrame StackTable::FrameOf(const LoadedFile& file, std::uintptr_t address) noexcept {
  constexpr std::size_t kMostPathBytes = 4096;
  const char* const name = file.map->l_name;
  const std::string_view path =
      name == nullptr ? std::string_view() : std::string_view(name, strnlen(name, kMostPathBytes));
  const std::uint32_t number = KeepFile({file.begin, BuildIdOf(file), 0, 0}, path);
  if (number == 0) return kUnkeptFile;
  return (StackFrame{number} << kFrameAddressBits) | ((address - file.map->l_addr) & kAddressMask);
}

void StackTable::Count(std::uint16_t place, std::size_t depth, const SampleCount& count) noexcept {
  counted_ += count.samples;
  const StackFrame* const frames = frames_ + frame_count_;
  const std::uint64_t hash = HashOf(place, frames, depth);
  const std::uint32_t slots = 2 * room_.stacks;
  std::uint32_t slot = static_cast<std::uint32_t>(hash % slots);
  for (; depth != 0 && slots_[slot] != 0; slot = (slot + 1) % slots) {
    Stack& stack = stacks_[slots_[slot] - 1];
    if (stack.hash == hash && stack.place == place && stack.depth == depth &&
        std::equal(frames, frames + depth, frames_ + stack.first))
      return stack.count.Add(count);
  }
  if (depth == 0 || stack_count_ == room_.stacks) return places_[place].other.Add(count);
  new (&stacks_[stack_count_++]) Stack{hash, frame_count_, static_cast<std::uint16_t>(depth), place, count};
  slots_[slot] = stack_count_;
  frame_count_ += static_cast<std::uint32_t>(depth);
}

void StackTable::Merge(const StackTable& other, double inflation) noexcept {
  constexpr std::size_t kMostNames = 80;  // sections are nested 64 deep at most
  std::string_view names[kMostNames];
  const auto place_here = [&](std::uint16_t number) {
    const Place& place = other.places_[number];
    std::string_view rest = other.NamesOf(place);
    std::size_t depth = 0;
    while (depth < kMostNames && NextName(&rest, &names[depth])) ++depth;
    return PlaceOf(other.DatasetOf(place), names, depth);
  };
  const auto inflated = [inflation](SampleCount count) {
    count.squares = static_cast<std::uint64_t>(std::llround(static_cast<double>(count.squares) * inflation));
    return count;
  };
  for (std::uint16_t i = 0; i < other.places(); ++i) {
    if (const SampleCount& count = other.places_[i].other; count.samples != 0) Count(place_here(i), 0, inflated(count));
  }
  for (const Stack& stack : other) {
    StackFrame* const frames = NextFrames();
    if (frames != nullptr) {
      for (std::size_t i = 0; i < stack.depth; ++i) {
        const StackFrame frame = other.FramesOf(stack)[i];
        frames[i] = frame;
        if (frame >> kFrameAddressBits == 0) continue;
        const File& file = other.FileOf(frame);
        const std::uint32_t number = KeepFile(file, other.PathOf(file));
        frames[i] = number == 0 ? kUnkeptFile : (StackFrame{number} << kFrameAddressBits) | (frame & kAddressMask);
      }
    }
    Count(place_here(stack.place), frames == nullptr ? 0 : stack.depth, inflated(stack.count));
  }
}

bool StackTable::NextName(std::string_view* rest, std::string_view* name) noexcept {
  std::uint16_t bytes = 0;
  if (rest->size() < sizeof bytes) return false;
  std::memcpy(&bytes, rest->data(), sizeof bytes);
  *name = rest->substr(sizeof bytes, bytes);
  rest->remove_prefix(sizeof bytes + name->size());
  return true;
}

bool WriteStacks(std::string_view fields, std::int64_t cost_ns) noexcept {
  const ErrnoAndCancelGuard guard;
  Recorder* recorder = Recording() ? CurrentRecorder() : nullptr;
  if (recorder == nullptr) return false;
  recorder->stacks.LeaveToInterpreter();
  AddCost(cost_ns);
  if (fields.empty()) return true;
  const bool is_one_line = std::none_of(fields.begin(), fields.end(),
                                        [](char character) { return static_cast<unsigned char>(character) < ' '; });
  if (is_one_line && !HasRoom(*recorder)) {
    recorder->stacks.Refuse(recorder, NoStacks::kNoRoomInLog);
    return false;
  }
  JsonLine line;
  line.Raw(",");
  line.Raw(fields);
  if (!is_one_line || line.broken()) {
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

}  // namespace crema::internal
