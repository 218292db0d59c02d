// Names of functions as people read them where there is little room.
#pragma once

#include <string>
#include <string_view>

namespace crema {

/// `void std::vector<int, std::allocator<int> >::push_back(int const&)` is `std::vector<…>::push_back`: a name of C++
/// without its parameters, the type of its result, namespaces without a name, and what templates are given. Other names
/// stay as they are.
std::string ShortFunctionName(std::string_view name);

}  // namespace crema
