#include "sdk/tests/faults/control_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace crema {
namespace testing {
namespace {

constexpr char kRoot[] = "/sys/fs/cgroup";

bool WriteInto(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return is_written;
}

/// A new group below `parent` with the limit; empty if this is not possible.
std::string MakeBelow(const std::string& parent, const std::string& file, const std::string& value) {
  std::string path = parent + "/crema-test-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return {};
  if (WriteInto(path + "/" + file, value)) return path;
  rmdir(path.c_str());
  return {};
}

}  // namespace

ControlGroup::ControlGroup(const GroupLimit& limit) : path_(MakeBelow(kRoot, limit.file, limit.value)) {
  if (is_made()) return;
  path_ = MakeBelow(kRoot + ("/" + limit.controller), limit.file_of_v1,
                    limit.value_of_v1.empty() ? limit.value : limit.value_of_v1);
}

ControlGroup::~ControlGroup() {
  // A process that was just waited for may still be leaving.
  for (int i = 0; is_made() && rmdir(path_.c_str()) != 0 && i < 1000; ++i) usleep(1000);
}

bool ControlGroup::Enter() const { return is_made() && WriteInto(path_ + "/cgroup.procs", std::to_string(getpid())); }

}  // namespace testing
}  // namespace crema
