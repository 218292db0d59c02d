// RecordCut: one step of a cut flow.
#ifndef CREMA_RECORD_CUT_H_
#define CREMA_RECORD_CUT_H_

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace crema {

/// Adds events that are left after a cut to the chunk that this thread works for. Cuts keep the order in which they
/// first came. The collector sums them over results only, so a repeated attempt does not count twice. Never throws.
void RecordCutEvents(std::string_view name, std::int64_t events) noexcept;
/// With the sum of the events' weights beside it.
void RecordCutEvents(std::string_view name, std::int64_t events, double sum_of_weights) noexcept;

/// As above, for any integral count: `RecordCut("two leptons", selected.size(), sum_of_weights)`.
template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
void RecordCut(std::string_view name, Count events) noexcept {
  RecordCutEvents(name, static_cast<std::int64_t>(events));
}
template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
void RecordCut(std::string_view name, Count events, double sum_of_weights) noexcept {
  RecordCutEvents(name, static_cast<std::int64_t>(events), sum_of_weights);
}

#ifdef CREMA_COMPILED_OUT
inline void RecordCutEvents(std::string_view, std::int64_t) noexcept {}
inline void RecordCutEvents(std::string_view, std::int64_t, double) noexcept {}
#endif

}  // namespace crema

#endif  // CREMA_RECORD_CUT_H_
