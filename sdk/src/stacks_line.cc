#include "stacks_line.h"

#include <algorithm>

#include "clock.h"
#include "crema/internal/section_node.h"
#include "json_line.h"
#include "recorder.h"

namespace crema {
namespace internal {

bool WriteStacks(std::string_view fields, std::int64_t cost_ns) noexcept {
  Recorder* recorder = Recording() ? CurrentRecorder() : nullptr;
  if (recorder == nullptr) return false;
  if (cost_ns > 0) recorder->overhead_ns.fetch_add(cost_ns, std::memory_order_relaxed);
  if (fields.empty()) return true;
  const bool is_one_line = std::none_of(fields.begin(), fields.end(),
                                        [](char character) { return static_cast<unsigned char>(character) < ' '; });
  JsonLine line;
  line.Raw("{\"type\":\"stacks\"");
  line.Field("time_ns", recorder->clock.UnixNanoseconds(MonotonicNanoseconds()));
  line.Raw(",");
  line.Raw(fields);
  line.Raw("}\n");
  if (!is_one_line || recorder->log.limits().is_stopped()) {  // the room that is left is for sums
    CountDropped();
    return false;
  }
  return recorder->log.Write(line);
}

}  // namespace internal
}  // namespace crema
