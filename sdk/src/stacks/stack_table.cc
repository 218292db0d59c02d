#include "stacks/stack_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace crema {
namespace internal {
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

}  // namespace

StackTable* StackTable::Make(const Room& room) noexcept {
  const auto divide = [&room](Pieces* pieces, StackTable* table) {
    auto* const self = pieces->Take<StackTable>(1);
    auto* const stacks = pieces->Take<Stack>(room.stacks);
    auto* const slots = pieces->Take<std::uint32_t>(std::size_t{2} * room.stacks);
    auto* const frames = pieces->Take<StackFrame>(room.frames);
    auto* const places = pieces->Take<Place>(room.places);
    auto* const files = pieces->Take<File>(room.files);
    auto* const texts = pieces->Take<char>(room.text_bytes);
    if (table == nullptr) return self;
    table->stacks_ = stacks;
    table->slots_ = slots;
    table->frames_ = frames;
    table->places_ = places;
    table->files_ = files;
    table->texts_ = texts;
    return self;
  };
  Pieces sizes(nullptr);
  divide(&sizes, nullptr);
  void* const block = mmap(nullptr, sizes.used(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  auto* const table = new (block) StackTable(room);
  Pieces pieces(static_cast<char*>(block));
  divide(&pieces, table);
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
  Place* const place = new (&places_[place_count_]) Place();
  place->hash = hash;
  place->text = text_bytes_;
  place->bytes = static_cast<std::uint32_t>(text.size());
  place->dataset_bytes = dataset_bytes;
  text_bytes_ += place->bytes;
  return static_cast<std::uint16_t>(place_count_++);
}

std::uint16_t StackTable::PlaceOf(std::string_view dataset, const std::string_view* names, std::size_t depth) noexcept {
  text_tail_ = 0;
  const std::size_t room = room_.text_bytes - text_bytes_;
  bool is_kept = dataset.size() <= room;
  if (is_kept && !dataset.empty()) std::memcpy(texts_ + text_bytes_, dataset.data(), dataset.size());
  if (is_kept) text_tail_ = static_cast<std::uint32_t>(dataset.size());
  for (std::size_t i = 0; is_kept && i < depth; ++i) is_kept = AppendText(names[i]);
  if (is_kept) return KeepPlace(static_cast<std::uint32_t>(dataset.size()));
  text_tail_ = 0;
  return 0;
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
  File wanted;
  wanted.begin = file.begin;
  wanted.build_id = BuildIdOf(file);
  const std::uint32_t number = KeepFile(wanted, path);
  if (number == 0) return kUnkeptFile;
  return (StackFrame{number} << kFrameAddressBits) | ((address - file.map->l_addr) & kAddressMask);
}

StackFrame* StackTable::NextFrames() noexcept {
  return room_.frames - frame_count_ < kMostFrames ? nullptr : frames_ + frame_count_;
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
        std::equal(frames, frames + depth, frames_ + stack.first)) {
      stack.count.Add(count);
      return;
    }
  }
  if (depth == 0 || stack_count_ == room_.stacks) {
    places_[place].other.Add(count);
    return;
  }
  Stack* const stack = new (&stacks_[stack_count_++]) Stack();
  slots_[slot] = stack_count_;
  stack->hash = hash;
  stack->first = frame_count_;
  stack->depth = static_cast<std::uint16_t>(depth);
  stack->place = place;
  stack->count = count;
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
    const SampleCount& count = other.places_[i].other;
    if (count.samples != 0) Count(place_here(i), 0, inflated(count));
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

std::string_view StackTable::NamesOf(const Place& place) const noexcept {
  return {texts_ + place.text + place.dataset_bytes, place.bytes - place.dataset_bytes};
}

bool StackTable::NextName(std::string_view* rest, std::string_view* name) noexcept {
  std::uint16_t bytes = 0;
  if (rest->size() < sizeof bytes) return false;
  std::memcpy(&bytes, rest->data(), sizeof bytes);
  *name = rest->substr(sizeof bytes, bytes);
  rest->remove_prefix(sizeof bytes + name->size());
  return true;
}

}  // namespace internal
}  // namespace crema
