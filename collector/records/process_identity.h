// What tells processes apart: docs/record_log.md, "What a reader does". Pids come again, and containers and cloned
// machines have hosts of one name.
#ifndef CREMA_COLLECTOR_RECORDS_PROCESS_IDENTITY_H_
#define CREMA_COLLECTOR_RECORDS_PROCESS_IDENTITY_H_

#include <tuple>

namespace crema {

/// What all writers know of a process: of one run, host, pid and start.
template <class Process>
auto NameOf(const Process& process) {
  return std::tie(process.run_id, process.host, process.pid, process.start_ns);
}

/// All that tells a process from others. An empty boot id and a namespace that is not known are values of their own:
/// see `MayBeOneProcess`.
template <class Process>
auto IdentityOf(const Process& process) {
  return std::tuple_cat(NameOf(process), std::tie(process.boot_id, process.pid_namespace));
}

/// Whether two writers may mean the same process: what both know is equal. An engine's plug-in does not know all that
/// the SDK does.
template <class A, class B>
bool MayBeOneProcess(const A& a, const B& b) {
  return NameOf(a) == NameOf(b) && (a.boot_id.empty() || b.boot_id.empty() || a.boot_id == b.boot_id) &&
         (!a.pid_namespace.has_value() || !b.pid_namespace.has_value() || a.pid_namespace == b.pid_namespace);
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_RECORDS_PROCESS_IDENTITY_H_
