// StackTable: how often stacks were seen, in memory of a fixed size.
#pragma once

#include <string_view>

#include "stacks/process_memory.h"

namespace crema::internal {

/// A function of a stack: the number of its file, from 1, above its address as the file has it; or one of those below.
using StackFrame = std::uint64_t;
inline constexpr int kFrameAddressBits = 48;
inline constexpr StackFrame kOuterFrames = 1;    ///< what could not be known, at the outer end
inline constexpr StackFrame kGeneratedCode = 2;  ///< code that no file has
inline constexpr StackFrame kUnkeptFile = 3;     ///< code of a file for which there was no room

/// Samples, and the sum of each sighting's samples, squared (docs/record_log.md, "stacks"). More, if the thread was
/// seen at the same places again and again.
struct SampleCount {
  std::uint64_t samples = 0;
  std::uint64_t squares = 0;

  void Add(const SampleCount& other) noexcept {
    samples += other.samples;
    squares += other.squares;
  }
};

/// All of it but `Make` may run in the handler of a signal. Whoever uses a table has it for himself.
class StackTable {
 public:
  static constexpr std::size_t kMostFrames = 128;  ///< of a stack, the innermost
  struct Room {
    std::uint32_t stacks;
    std::uint32_t frames;
    std::uint32_t places;
    std::uint32_t files;
    std::uint32_t text_bytes;
  };
  static constexpr Room kOfThread = {1024, 16384, 128, 64, 65536};
  static constexpr Room kOfProcess = {8192, 131072, 1024, 512, 524288};

  struct Stack {
    std::uint64_t hash = 0;
    std::uint32_t first = 0;
    std::uint16_t depth = 0;
    std::uint16_t place = 0;
    SampleCount count;
  };
  /// Where a stack was seen: the dataset, as it is in a line, and the section's names, from the outermost inwards.
  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t text = 0;
    std::uint32_t bytes = 0;
    std::uint32_t dataset_bytes = 0;
    SampleCount other;  ///< of stacks that found no room
  };
  struct File {
    std::uintptr_t begin = 0;
    BuildId build_id;
    std::uint32_t path = 0;
    std::uint32_t path_bytes = 0;
  };

  /// Memory from the kernel, which comes as it is touched; nullptr where it is refused.
  static StackTable* Make(const Room& room) noexcept;

  void Clear() noexcept;
  /// The number of a place. Number 0 is that of all that found no room: without a dataset, in section `(other)`.
  std::uint16_t PlaceOf(std::string_view dataset, const std::string_view* names, std::size_t depth) noexcept;
  /// The function of a file; `address` as in memory.
  StackFrame FrameOf(const LoadedFile& file, std::uintptr_t address) noexcept;
  /// Where the frames of the next stack go, `kMostFrames` of them, the innermost first; nullptr: no room.
  StackFrame* NextFrames() noexcept {
    return room_.frames - frame_count_ < kMostFrames ? nullptr : frames_ + frame_count_;
  }
  /// Counts the stack of which `depth` frames are there; nothing is there, and it is one of the others, if 0.
  void Count(std::uint16_t place, std::size_t depth, const SampleCount& count) noexcept;
  /// Adds what `other` has counted, with its squares times `inflation`.
  void Merge(const StackTable& other, double inflation) noexcept;

  bool is_empty() const noexcept { return counted_ == 0; }
  bool is_half_full() const noexcept { return stack_count_ > room_.stacks / 2 || frame_count_ > room_.frames / 2; }

  const Stack* begin() const noexcept { return stacks_; }
  const Stack* end() const noexcept { return stacks_ + stack_count_; }
  const StackFrame* FramesOf(const Stack& stack) const noexcept { return frames_ + stack.first; }
  std::uint16_t places() const noexcept { return static_cast<std::uint16_t>(place_count_); }
  const Place& place(std::uint16_t i) const noexcept { return places_[i]; }
  std::string_view DatasetOf(const Place& place) const noexcept { return {texts_ + place.text, place.dataset_bytes}; }
  /// The section's names, each behind its length.
  std::string_view NamesOf(const Place& place) const noexcept {
    return {texts_ + place.text + place.dataset_bytes, place.bytes - place.dataset_bytes};
  }
  /// The next of the section's names, from the outermost inwards; `*rest` begins as `NamesOf`. False: no more.
  static bool NextName(std::string_view* rest, std::string_view* name) noexcept;
  const File& FileOf(StackFrame frame) const noexcept { return files_[(frame >> kFrameAddressBits) - 1]; }
  std::string_view PathOf(const File& file) const noexcept { return {texts_ + file.path, file.path_bytes}; }
  std::uint32_t files() const noexcept { return file_count_; }
  const File& file(std::uint32_t i) const noexcept { return files_[i]; }

 private:
  explicit StackTable(const Room& room) : room_(room) {}
  bool AppendText(std::string_view text) noexcept;
  std::uint16_t KeepPlace(std::uint32_t dataset_bytes) noexcept;
  std::uint32_t KeepFile(const File& file, std::string_view path) noexcept;

  Room room_;
  Stack* stacks_ = nullptr;
  std::uint32_t* slots_ = nullptr;  ///< twice as many as stacks: the number of one, from 1; 0: free
  StackFrame* frames_ = nullptr;
  Place* places_ = nullptr;
  File* files_ = nullptr;
  char* texts_ = nullptr;
  std::uint32_t stack_count_ = 0;
  std::uint32_t frame_count_ = 0;
  std::uint32_t place_count_ = 0;
  std::uint32_t file_count_ = 0;
  std::uint32_t text_bytes_ = 0;
  std::uint32_t text_tail_ = 0;  ///< of a text that is being put together
  std::uint64_t counted_ = 0;
};

// The lines `stacks`: what an interpreter's sampling thread counted, written by the language's own package, and what
// NativeStacks did.

struct Recorder;

/// Writes the line with these fields, JSON without the braces around them: `"dataset":"zjets",…`. `cost_ns`: what the
/// sampling took since the line before; it counts as overhead in any case. False, and counted, where the fields
/// are no one line that readers take, or where it did not get to the disk. Whoever calls this takes stacks in
/// the place of NativeStacks; without fields it says no more than that.
bool WriteStacks(std::string_view fields, std::int64_t cost_ns) noexcept;

/// Lines of all that the table has, one for each place, or several.
void WriteCountedStacks(Recorder* recorder, const StackTable& table) noexcept;
/// A line that says why stacks are missing.
void WriteStacksRefused(Recorder* recorder, const char* reason) noexcept;

}  // namespace crema::internal
