// Turning recording on and off from code.
#ifndef CREMA_RECORDER_H_
#define CREMA_RECORDER_H_

#include <cstdint>
#include <optional>
#include <string>

namespace crema {

/// What the environment variables say, said from code. Fields left unset take the variable's value, else the default.
struct Options {
  std::string directory;                      ///< CREMA_DIR: where record logs go; created if missing
  std::string run_id;                         ///< CREMA_RUN_ID
  std::string pass;                           ///< CREMA_PASS: name of this pass over the data
  std::optional<int> threads;                 ///< CREMA_THREADS: cores this process was given
  std::optional<double> interval_seconds;     ///< CREMA_INTERVAL: the sampler's; 0: none; default 1
  std::optional<std::int64_t> total_events;   ///< CREMA_TOTAL_EVENTS: events the run will process
  std::optional<std::int64_t> max_log_bytes;  ///< CREMA_MAX_LOG_BYTES: chunks beyond are summed; default: no limit
  std::optional<bool> trace;                  ///< CREMA_TRACE: keep every occurrence of a section; default no
  std::optional<bool> record_arguments;       ///< CREMA_NO_ARGUMENTS: whether the command line is kept; default yes
};

/// Starts recording into `options.directory`; without one, into CREMA_DIR. Does nothing when CREMA_OFF=1. Returns
/// whether recording is on afterwards: false leaves the program as it was, with one warning on stderr at most. While
/// recording is on already, it changes nothing. Never throws.
bool Enable(const Options& options) noexcept;

/// Stops recording: open guards finish quietly, new ones cost a load and a branch. The log stays open, for `Enable`.
void Disable() noexcept;

/// Whether recording is on.
bool Enabled() noexcept;

/// Writes what is kept per process (a `sample` line with the sections outside chunks; sums of chunks without lines, as
/// long as half of the room for them is left), and asks the disk to keep all that was written (fdatasync(2)). Chunk
/// records need no flush: each is written when its chunk ends.
void Flush() noexcept;

#ifdef CREMA_COMPILED_OUT
inline bool Enable(const Options&) noexcept { return false; }
inline void Disable() noexcept {}
inline bool Enabled() noexcept { return false; }
inline void Flush() noexcept {}
#endif

}  // namespace crema

#endif  // CREMA_RECORDER_H_
