// /proc/net/dev: bytes through the interfaces of a network namespace.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_NET_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_NET_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "collector/records/tree_facts.h"

namespace crema {

/// Counts per interface; loopback is left out, as it leaves no host.
using InterfaceBytes = std::map<std::string, TreeNet, std::less<>>;
InterfaceBytes ParseProcNetDev(std::string_view text);

/// Bytes since the first reading. An interface that vanishes or starts again keeps what it had counted.
class NetCounter {
 public:
  /// Adds a reading of /proc/net/dev and gives the sums since the first one; nullopt for an unreadable file (empty).
  std::optional<TreeNet> Add(std::string_view proc_net_dev);

 private:
  bool has_first_ = false;
  InterfaceBytes last_;
  TreeNet sum_;
};

/// Whether others may share the network namespace of the process (a pid, or `self`): it is that of process 1, or it
/// cannot be told.
bool NetworkIsShared(const std::string& process = "self");

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_NET_H_
