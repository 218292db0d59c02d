// What docs/record_log.md says: the tables of fields, and the example lines.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace crema {
namespace testing {

/// One row of a table of fields.
struct FieldRule {
  std::string name;
  std::string type;    ///< text, integer, number, boolean, list, object
  bool may_be_absent;  ///< the column "null" begins with "left out"
  bool may_be_null;    ///< it says something else than "never"
};

struct FormatPage {
  std::map<std::string, std::vector<FieldRule>> lines;  ///< by type of line
  std::map<std::string, std::vector<FieldRule>> rows;   ///< by the list they are in: sections, metrics, …
  std::map<std::string, std::string> examples;          ///< by type of line
};

FormatPage ReadFormatPage(const std::string& path);

}  // namespace testing
}  // namespace crema
