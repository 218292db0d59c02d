// Span: a phase of the program, around many chunks.
#ifndef CREMA_SPAN_H_
#define CREMA_SPAN_H_

#include <string_view>

namespace crema {
namespace internal {
struct SpanState;
}  // namespace internal

/// A named phase until the end of the scope; nested spans form paths (`process/signal`). Chunks carry the innermost
/// span of their thread, else the innermost one of the process (opened outside any chunk, by any thread). The collector
/// makes phases of spans named `preprocess`, `process`, `reduce` and `postprocess`. Never throws.
class Span {
 public:
  explicit Span(std::string_view name) noexcept;
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  [[maybe_unused]] internal::SpanState* state_ = nullptr;
};

#ifdef CREMA_COMPILED_OUT
inline Span::Span(std::string_view) noexcept {}
inline Span::~Span() {}
#endif

}  // namespace crema

#endif  // CREMA_SPAN_H_
