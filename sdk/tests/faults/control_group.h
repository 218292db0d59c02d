// ControlGroup: a control group of the kernel's for the programs of a test (cgroups(7)).
#pragma once

#include <string>

namespace crema {
namespace testing {

/// A limit of a controller, in both versions of control groups; where both have it, version 2 is taken.
struct GroupLimit {
  std::string controller;  ///< "memory"
  std::string file;        ///< of version 2: "memory.max"
  std::string file_of_v1;  ///< "memory.limit_in_bytes"
  std::string value;
  std::string value_of_v1;  ///< empty: as `value`
};

/// A new group with one limit. It is removed at the end of the scope, when no process is in it any more.
class ControlGroup {
 public:
  explicit ControlGroup(const GroupLimit& limit);
  ~ControlGroup();
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  /// False if control groups cannot be made here, or not with this controller.
  bool is_made() const { return !path_.empty(); }
  /// Moves the calling process into the group; false if this is not allowed.
  bool Enter() const;

 private:
  std::string path_;
};

}  // namespace testing
}  // namespace crema
