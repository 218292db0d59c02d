// What guards cost on this machine, measured before the first one: so that a log says how much of it is the log's own.
#ifndef CREMA_SRC_PROCESS_CALIBRATION_H_
#define CREMA_SRC_PROCESS_CALIBRATION_H_

namespace crema {
namespace internal {

struct Recorder;

/// Sets the recorder's costs per section, per request and per memory reading. Takes some 25 us.
void Calibrate(Recorder* recorder) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_PROCESS_CALIBRATION_H_
