// Objects of the SDK, in memory of malloc(3): the operators new and delete may be the program's own, which count,
// print, or take from a pool.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace crema {
namespace internal {

/// nullptr where the system refuses the memory.
template <class Object, class... Arguments>
Object* MakeOwn(Arguments&&... arguments) noexcept {
  static_assert(alignof(Object) <= alignof(std::max_align_t), "malloc(3) aligns no further");
  void* const memory = std::malloc(sizeof(Object));
  return memory == nullptr ? nullptr : new (memory) Object(std::forward<Arguments>(arguments)...);
}

template <class Object>
void FreeOwn(Object* object) noexcept {
  object->~Object();
  std::free(object);
}

template <class Object>
struct OwnDeleter {
  void operator()(Object* object) const noexcept { FreeOwn(object); }
};
template <class Object>
using OwnPointer = std::unique_ptr<Object, OwnDeleter<Object>>;

struct OwnArrayDeleter {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class Element>
using OwnArray = std::unique_ptr<Element[], OwnArrayDeleter>;

template <class Element>
OwnArray<Element> MakeOwnArray(std::size_t count) noexcept {
  static_assert(std::is_trivially_destructible_v<Element>, "none is destroyed");
  constexpr bool kIsWide = alignof(Element) > alignof(std::max_align_t);  // malloc(3) aligns no further
  void* const memory =
      kIsWide ? std::aligned_alloc(alignof(Element), count * sizeof(Element)) : std::malloc(count * sizeof(Element));
  auto* const elements = static_cast<Element*>(memory);
  for (std::size_t i = 0; elements != nullptr && i < count; ++i) new (&elements[i]) Element;
  return OwnArray<Element>(elements);
}

}  // namespace internal
}  // namespace crema
