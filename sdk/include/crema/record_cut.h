// RecordCut: one step of a cut flow.
#ifndef CREMA_RECORD_CUT_H_
#define CREMA_RECORD_CUT_H_

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace crema {

/// Which events a cut was asked about. Cuts that have no input are a list: crema compares each with the one before.
struct CutInput {
  /// The cut that these events passed: its name, if this thread recorded it before, or its path ("jets/MET"). Empty:
  /// none.
  std::string_view parent = {};
  std::int64_t seen = -1;  ///< how many events the cut was asked about; negative: those that passed the parent
  /// Which of several cut flows, for example "signal region". A cut has its parent in its own.
  std::string_view flow = {};
  /// Where the cut is in its flow; empty: below the parent, under its name. Needed where one parent has two cuts of
  /// one name.
  std::string_view path = {};
};

/// Adds events that are left after a cut to the chunk that this thread works for. Cuts keep the order in which they
/// first came. The collector sums them over results only, so a repeated attempt does not count twice. Never throws.
/// `sum_of_weights`, `input`: null where not known.
void RecordCutEvents(std::string_view name, std::int64_t events, const double* sum_of_weights,
                     const CutInput* input) noexcept;

/// As above, for any integral count: `RecordCut("two leptons", selected.size(), sum_of_weights)`, or with the cut
/// before it: `RecordCut("MET", left, {"two leptons"})`.
template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
void RecordCut(std::string_view name, Count events) noexcept {
  RecordCutEvents(name, static_cast<std::int64_t>(events), nullptr, nullptr);
}
template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
void RecordCut(std::string_view name, Count events, double sum_of_weights) noexcept {
  RecordCutEvents(name, static_cast<std::int64_t>(events), &sum_of_weights, nullptr);
}
template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
void RecordCut(std::string_view name, Count events, const CutInput& input) noexcept {
  RecordCutEvents(name, static_cast<std::int64_t>(events), nullptr, &input);
}
template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
void RecordCut(std::string_view name, Count events, double sum_of_weights, const CutInput& input) noexcept {
  RecordCutEvents(name, static_cast<std::int64_t>(events), &sum_of_weights, &input);
}

#ifdef CREMA_COMPILED_OUT
inline void RecordCutEvents(std::string_view, std::int64_t, const double*, const CutInput*) noexcept {}
#endif

}  // namespace crema

#endif  // CREMA_RECORD_CUT_H_
