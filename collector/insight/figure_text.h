// A value of the document in the words around it, as terminal, page and notebook write it.
#pragma once

#include <string>

namespace crema {

struct FigureText {
  std::string before;
  std::string figure;  ///< `value` in words; empty where the words say it all
  std::string after;
  std::string key = "";  ///< of the document: `quality.event_coverage`; empty: `value` is no value of it
  double value = 0;
  std::string name = "";  ///< from the records; it stands last

  std::string text() const { return before + figure + after + name; }
};

}  // namespace crema
