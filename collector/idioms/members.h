// What the compiler knows of members of structs, and arrays that are made from parts: for tables of fields and columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace crema {
namespace internal {

template <class Member>
struct StructOfMember;
template <class Struct, class Value>
struct StructOfMember<Value Struct::*> {
  using Type = Struct;
};

template <class Part>
inline constexpr size_t kSizeOfPart = 1;
template <class Value, size_t kSize>
inline constexpr size_t kSizeOfPart<std::array<Value, kSize>> = kSize;
template <class Value, size_t kSize>
inline constexpr size_t kSizeOfPart<Value[kSize]> = kSize;

}  // namespace internal

/// The struct that a member belongs to.
template <auto kMember>
using StructOf = typename internal::StructOfMember<decltype(kMember)>::Type;

/// As its class declares it: both compilers write `... kMember = &crema::CutRow::events; ...` or `...]`.
template <auto kMember>
constexpr std::string_view NameOfMember() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("kMember = "));
  name = name.substr(0, name.find_first_of(";]"));
  return name.substr(name.rfind(':') + 1);
}

/// A member, and its name for a key.
template <class Struct, class Value>
struct NamedMember {
  std::string_view key;
  Value Struct::*member;
};

template <class Struct, class Value>
NamedMember(std::string_view, Value Struct::*) -> NamedMember<Struct, Value>;

/// Members of one type.
template <auto... kMembers>
struct MemberList {
  static constexpr std::array kNamed = {NamedMember{NameOfMember<kMembers>(), kMembers}...};
};

/// Takes each of the members from the other one where it is larger there. An empty optional is less than any value.
template <auto... kMembers, class Struct>
void KeepLarger(const Struct& other, Struct* to) {
  ((to->*kMembers = std::max(to->*kMembers, other.*kMembers)), ...);
}

/// An array of the parts, one after the other: values, and arrays of them.
template <class Value, class... Parts>
constexpr auto Joined(const Parts&... parts) {
  std::array<Value, (internal::kSizeOfPart<Parts> + ...)> joined{};
  size_t size = 0;
  const auto append = [&](const auto& part) {
    if constexpr (std::is_same_v<std::decay_t<decltype(part)>, Value>) {
      joined[size++] = part;
    } else {
      for (const Value& value : part) joined[size++] = value;
    }
  };
  (append(parts), ...);
  return joined;
}

}  // namespace crema
