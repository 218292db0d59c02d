// The lines `stacks`: what an interpreter's sampling thread counted, written by the language's own package, and what
// NativeStacks did.
#pragma once

#include <cstdint>
#include <string_view>

namespace crema {
namespace internal {

struct Recorder;
class StackTable;

/// Writes the line with these fields, JSON without the braces around them: `"dataset":"zjets",…`. `cost_ns`: what the
/// sampling took since the line before; it counts as overhead in any case. False, and counted, where the fields
/// are no one line that readers take, or where it did not get to the disk. Whoever calls this takes stacks in
/// the place of NativeStacks; without fields it says no more than that.
bool WriteStacks(std::string_view fields, std::int64_t cost_ns) noexcept;

/// Lines of all that the table has, one for each place, or several.
void WriteCountedStacks(Recorder* recorder, const StackTable& table) noexcept;
/// A line that says why stacks are missing.
void WriteStacksRefused(Recorder* recorder, const char* reason) noexcept;

}  // namespace internal
}  // namespace crema
