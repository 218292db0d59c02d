// The names that a misspelt one may stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crema {

/// `; did you mean A, B?` with at most five of `names`: those that contain `word`, then those that are spelt like it.
/// Empty if there are none.
std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace crema
