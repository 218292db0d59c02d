#include "collector/metrics/attempts/packed_block.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/bits.h"

namespace crema {
namespace {

/// Values as they are before they are packed.
using Values = std::array<uint64_t, PackedBlock::kMostRows>;

constexpr size_t kWord = sizeof(uint64_t);

/// The place of each row's value in the list of those that occur.
template <class T, class ValueOf>
std::vector<T> ListOf(absl::Span<const AttemptRow> rows, const ValueOf& value_of, Values* places) {
  std::vector<T> list;
  absl::flat_hash_map<uint64_t, uint32_t> place_of;
  uint64_t recent = 0;
  uint32_t place = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [value, key] = value_of(rows[i]);
    if (i == 0 || key != recent) {  // the next one mostly has the same
      recent = key;
      place = place_of.try_emplace(key, static_cast<uint32_t>(list.size())).first->second;
      if (place == list.size()) list.push_back(value);
    }
    (*places)[i] = place;
  }
  list.shrink_to_fit();
  return list;
}

}  // namespace

PackedBlock::PackedBlock(absl::Span<const AttemptRow> rows, RowMemory* memory)
    : size_(static_cast<uint32_t>(rows.size())) {
  // What differs is packed one column after the other, and copied to its place once its size is known.
  static thread_local std::vector<uint64_t> words(kColumns * kMostRows + 1);
  size_t used = 0;  // words
  Values values = {};
  const auto pack = [&](Column column) {
    // As signed numbers: what was not measured is -1. The least of them, and all bits in which others differ from it.
    int64_t least = static_cast<int64_t>(values[0]);
    for (size_t i = 1; i < size_; ++i) least = std::min(least, static_cast<int64_t>(values[i]));
    uint64_t bits = 0;
    for (size_t i = 0; i < size_; ++i) bits |= values[i] - static_cast<uint64_t>(least);
    Packed& packed = columns_[column];
    packed.base = static_cast<uint64_t>(least);
    if (bits == 0) return;
    const int shift = absl::countr_zero(bits);
    int width = absl::bit_width(bits >> shift);
    if (width > 57) width = 64;  // a word that begins in the middle of a byte has no more
    packed.shift = static_cast<uint8_t>(width == 64 ? 0 : shift);
    packed.width = static_cast<uint8_t>(width);
    packed.mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    packed.offset = static_cast<uint32_t>(used * kWord);
    uint64_t word = 0;
    int filled = 0;
    for (size_t i = 0; i < size_; ++i) {
      const uint64_t value = (values[i] - packed.base) >> packed.shift;
      word |= value << filled;
      filled += width;
      if (filled < 64) continue;
      words[used++] = word;
      filled -= 64;
      word = filled == 0 ? 0 : value >> (width - filled);
    }
    if (filled > 0) words[used++] = word;
  };
  const auto pack_each = [&](Column column, const auto& value_of) {
    for (size_t i = 0; i < size_; ++i) values[i] = static_cast<uint64_t>(value_of(rows[i]));
    pack(column);
  };
  pack_each(kChunkId, [](const AttemptRow& row) { return row.chunk_id; });
  pack_each(kStart, [](const AttemptRow& row) { return row.start_ns; });
  pack_each(kDuration, [](const AttemptRow& row) { return row.duration_ns; });
  pack_each(kSuspended, [](const AttemptRow& row) { return row.suspended_ns; });
  pack_each(kEvents, [](const AttemptRow& row) { return row.events; });
  pack_each(kCpu, [](const AttemptRow& row) { return row.cpu_ns; });
  pack_each(kCpuWait, [](const AttemptRow& row) { return row.cpu_wait_ns; });
  pack_each(kSystemCpu, [](const AttemptRow& row) { return row.system_cpu_ns; });
  pack_each(kMinorFaults, [](const AttemptRow& row) { return row.minor_faults; });
  pack_each(kMajorFaults, [](const AttemptRow& row) { return row.major_faults; });
  pack_each(kRssStart, [](const AttemptRow& row) { return row.rss_start_bytes; });
  pack_each(kRssStop, [](const AttemptRow& row) { return row.rss_stop_bytes; });
  pack_each(kNumber, [](const AttemptRow& row) { return row.number; });
  pack_each(kHelpers, [](const AttemptRow& row) { return row.helpers + 1; });
  pack_each(kLanesPeak, [](const AttemptRow& row) { return row.lanes_peak; });
  pack_each(kStatus, [](const AttemptRow& row) { return row.status; });
  processes_ = ListOf<Process>(
      rows,
      [](const AttemptRow& row) {
        return std::pair(Process{row.process, row.recorder}, uint64_t{row.process} << 32 | row.recorder);
      },
      &values);
  pack(kProcess);
  inputs_ = ListOf<uint32_t>(
      rows, [](const AttemptRow& row) { return std::pair(row.input, uint64_t{row.input}); }, &values);
  pack(kInput);
  threads_ = ListOf<uint32_t>(
      rows, [](const AttemptRow& row) { return std::pair(row.thread, uint64_t{row.thread}); }, &values);
  pack(kThread);
  for (size_t i = 0; i < size_; ++i) {
    if (rows[i].is_result) SetResult(i, true);
    if (i > 0 && RowPlace(rows[i]) < RowPlace(rows[i - 1])) is_in_order_ = false;
  }
  words[used++] = 0;  // whoever reads the last value reads a word from where it begins
  std::shared_ptr<uint8_t> bytes = memory->Take(used * kWord);
  std::memcpy(bytes.get(), words.data(), used * kWord);
  bytes_ = bytes.get();
  memory_ = std::move(bytes);
}

}  // namespace crema
