// Names of files, workers and sections as sentences can hold them.
#pragma once

#include <string>
#include <string_view>

namespace crema {

/// The name, or `…` and its last 60 bytes where it is longer: the end of a path distinguishes files. Never cuts a UTF-8
/// character. `(none)` for an empty one.
std::string ShortName(std::string_view name);

/// Whether a sentence names it, as `ShortName` has it: whole, not as a part of another name (`node:1` in `node:11`).
bool NamesIt(std::string_view sentence, std::string_view name);

}  // namespace crema
