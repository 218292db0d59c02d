// A directory of this process, in memory where there is one: the readers under test take paths.
#pragma once

#include <string>
#include <string_view>

namespace crema {

/// Made at the first call, removed at exit.
const std::string& ScratchDirectory();

/// (Over)writes a file of the directory and returns its path.
std::string WriteScratch(const std::string& name, std::string_view text);

}  // namespace crema
