#include "collector/exports/folded_line.h"

#include <algorithm>
#include <utility>

#include "collector/records/section_path.h"

namespace crema {

std::string FoldedFrame(std::string name) {
  for (char& character : name) {
    if (character == ';') character = ':';
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  }
  return name;
}

std::string FoldedStack(const std::string& root, const std::string& path) {
  std::string stack = root;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    stack += ";" + FoldedFrame(NameOfPathPart(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return stack;
}

}  // namespace crema
