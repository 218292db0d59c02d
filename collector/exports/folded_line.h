// Lines of folded stacks, `frame;frame;frame NUMBER`, the outermost first.
#ifndef CREMA_COLLECTOR_EXPORTS_FOLDED_LINE_H_
#define CREMA_COLLECTOR_EXPORTS_FOLDED_LINE_H_

#include <string>

namespace crema {

/// Frames are told apart by `;`, the number by the last space, stacks by line ends.
std::string FoldedFrame(std::string name);

/// The frames of a section's path below `root`.
std::string FoldedStack(const std::string& root, const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_FOLDED_LINE_H_
