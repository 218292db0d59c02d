// Where an event's latency went: its four parts, and its critical path.
#include <algorithm>

#include "tasks/task_table.h"

namespace crema::internal {
namespace {

using Span = EventNodes::Span;
using Piece = EventNodes::Piece;

/// In the order in which they count.
enum Part : std::int32_t { kActive, kQueued, kExternal, kParts };

/// Most events come in order.
template <class Iterator, class Less>
void Sort(Iterator begin, Iterator end, const Less& less) {
  if (!std::is_sorted(begin, end, less)) std::sort(begin, end, less);
}

/// The length of what pieces of `part` and those before it cover together.
std::int64_t Covered(const Piece* begin, const Piece* end, std::int32_t part) {
  std::int64_t covered_ns = 0;
  std::int64_t until_ns = INT64_MIN;
  for (const Piece* piece = begin; piece != end; ++piece) {
    if (piece->part > part) continue;
    const std::int64_t from_ns = std::max(piece->start_ns, until_ns);
    if (piece->stop_ns <= from_ns) continue;
    covered_ns += piece->stop_ns - from_ns;
    until_ns = piece->stop_ns;
  }
  return covered_ns;
}

/// Walks back from what ended last. What let a task begin is what had ended last when it became ready; what let a
/// request begin is the task that began it. Each piece is cut where the later one begins.
void FollowCriticalPath(EventNodes* nodes, std::uint32_t count, std::int64_t start_ns, std::int64_t stop_ns,
                        EventParts* parts) {
  constexpr std::int64_t kNobody = -1;
  const Span* const spans = nodes->spans;
  std::uint32_t* const order = nodes->by_stop;
  for (std::uint32_t i = 0; i < count; ++i) order[i] = i;
  Sort(order, order + count, [spans](std::uint32_t a, std::uint32_t b) {
    return spans[a].stop_ns != spans[b].stop_ns ? spans[a].stop_ns < spans[b].stop_ns : a < b;
  });
  // The last in order that ended by this time, which never rises, and that was not asked for before.
  const std::uint32_t* after = order + count;
  const auto last_by = [&](std::int64_t time_ns) -> std::int64_t {
    while (after != order && spans[after[-1]].stop_ns > time_ns) --after;
    return after == order ? kNobody : static_cast<std::int64_t>(*--after);
  };
  std::int64_t cursor_ns = stop_ns;
  std::int64_t at = last_by(cursor_ns);
  // Those of no length may point at each other: there are at most so many steps.
  for (std::uint32_t steps = 0; at != kNobody && steps < 2 * count; ++steps) {
    const Span& span = spans[at];
    const std::int64_t run_stop_ns = std::min(span.stop_ns, cursor_ns);
    const std::int64_t run_start_ns = std::min(span.start_ns, run_stop_ns);
    const std::int64_t ready_ns = std::min(span.ready_ns, run_start_ns);
    const std::int64_t run_ns = run_stop_ns - run_start_ns;
    const std::int64_t queue_ns = run_start_ns - ready_ns;
    parts->critical_gap_ns += cursor_ns - run_stop_ns;
    parts->critical_queue_ns += queue_ns;
    (span.module != nullptr && span.module->is_request ? parts->critical_external_ns : parts->critical_run_ns) +=
        run_ns;
    if (span.module != nullptr) {
      span.module->critical_run_ns.fetch_add(run_ns, std::memory_order_relaxed);
      if (queue_ns != 0) span.module->critical_queue_ns.fetch_add(queue_ns, std::memory_order_relaxed);
    }
    cursor_ns = ready_ns;
    if (cursor_ns <= start_ns) break;
    at = span.begun_by >= 0 && span.begun_by < static_cast<std::int64_t>(count) ? span.begun_by : last_by(cursor_ns);
  }
  parts->critical_gap_ns += cursor_ns - start_ns;
}

}  // namespace

EventParts DivideLatency(EventNodes* nodes, std::uint32_t count, std::int64_t start_ns, std::int64_t stop_ns,
                         std::uint32_t* open) noexcept {
  EventParts parts;
  *open = 0;
  Piece* end = nodes->pieces;
  bool has_part[kParts] = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    const TaskNode& node = nodes->nodes[i];
    std::int64_t node_stop_ns = node.stop_ns.load(std::memory_order_acquire);
    if (node_stop_ns <= 0) ++*open;
    if (node_stop_ns == TaskNode::kNone) {  // it is about to begin
      nodes->spans[i] = {start_ns, start_ns, start_ns, nullptr, -1};
      continue;
    }
    if (node_stop_ns == TaskNode::kOpen) node_stop_ns = stop_ns;
    Span& span = nodes->spans[i];
    span.start_ns = std::clamp(node.start_ns, start_ns, stop_ns);
    span.stop_ns = std::clamp(node_stop_ns, span.start_ns, stop_ns);
    span.ready_ns = std::clamp(node.ready_ns, start_ns, span.start_ns);
    span.module = node.module;
    span.begun_by = node.begun_by;
    const Part part = node.module->is_request ? kExternal : kActive;
    *end++ = {span.start_ns, span.stop_ns, part};
    has_part[part] = true;
    if (span.ready_ns == span.start_ns) continue;
    *end++ = {span.ready_ns, span.start_ns, kQueued};
    has_part[kQueued] = true;
  }
  Sort(nodes->pieces, end, [](const Piece& a, const Piece& b) { return a.start_ns < b.start_ns; });
  std::int64_t covered_ns[kParts] = {Covered(nodes->pieces, end, kActive)};
  for (std::int32_t part = kQueued; part < kParts; ++part) {
    covered_ns[part] = has_part[part] ? Covered(nodes->pieces, end, part) : covered_ns[part - 1];
  }
  parts.active_ns = covered_ns[kActive];
  parts.queued_ns = covered_ns[kQueued] - covered_ns[kActive];
  parts.external_ns = covered_ns[kExternal] - covered_ns[kQueued];
  parts.rest_ns = stop_ns - start_ns - covered_ns[kExternal];
  FollowCriticalPath(nodes, count, start_ns, stop_ns, &parts);
  return parts;
}

}  // namespace crema::internal
