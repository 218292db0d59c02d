// Paths of sections: names with a slash between, in which a slash of a name is written %2F.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace crema {

/// A name as the user wrote it.
inline std::string NameOfPathPart(std::string part) {
  for (size_t at = part.find("%2F"); at != std::string::npos; at = part.find("%2F", at + 1)) part.replace(at, 3, "/");
  return part;
}

/// The names of a path, the outermost first; of the empty path, none.
inline std::vector<std::string> NamesOfPath(const std::string& path) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < path.size();) {
    const size_t slash = path.find('/', begin);
    const size_t end = slash == std::string::npos ? path.size() : slash;
    names.push_back(NameOfPathPart(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return names;
}

/// A name as a part of a path.
inline std::string PathPartOfName(std::string name) {
  for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at)) name.replace(at, 1, "%2F");
  return name;
}

}  // namespace crema
