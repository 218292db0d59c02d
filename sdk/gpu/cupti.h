// The part of NVIDIA's CUPTI that is used, declared anew: libcupti.so.12 or .13 is loaded at run time, and nothing of
// NVIDIA's is needed to build crema. Records grow from version to version, at their ends only: the fields below stand
// where they are in both (CUDA Toolkit, CUPTI, "Activity API"; compared with the headers of 12.4 and 13.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace crema::gpu {

using CuptiResult = int;  // 0: success

enum ActivityKind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kConcurrentKernel = 10,
  kMemcpyPeer = 22,
};

/// CUpti_ActivityMemcpyKind.
enum CopyKind : std::uint8_t { kToDevice = 1, kFromDevice = 2, kToArray = 3, kFromArray = 4, kOnHost = 9 };

/// A record begins with its kind. What comes after is read at the places below.
template <class Field>
Field ReadAt(const void* record, std::size_t offset) {
  Field field;
  std::memcpy(&field, static_cast<const char*>(record) + offset, sizeof field);
  return field;
}
inline std::uint32_t KindOf(const void* record) { return ReadAt<std::uint32_t>(record, 0); }

/// Where fields of activities of a device stand. `bytes` and `name` as far as there are any.
struct DeviceFields {
  ActivityKind kind;
  std::size_t start, end, correlation, bytes, copy_kind, name;
};
inline constexpr std::size_t kNoField = 0;
inline constexpr DeviceFields kDeviceFields[] = {{kConcurrentKernel, 16, 24, 92, kNoField, kNoField, 104},
                                                 {kMemcpy, 16, 24, 44, 8, 4, kNoField},
                                                 {kMemset, 16, 24, 44, 8, kNoField, kNoField},
                                                 {kMemcpyPeer, 16, 24, 60, 8, kNoField, kNoField}};

/// CUpti_ActivityAPI.
struct ApiRecord {
  std::uint32_t kind;
  std::uint32_t function;  ///< CUpti_driver_api_trace_cbid
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t result;
};

/// Functions of the driver (CUpti_driver_api_trace_cbid): numbers never change their meaning.
struct FunctionRange {
  std::uint32_t first, last;
  bool waits;  ///< the thread may wait in it for the device
};
inline constexpr FunctionRange kFunctions[] = {
    {17, 17, true},     // cuCtxSynchronize
    {115, 117, false},  // cuLaunch, cuLaunchGrid, …Async
    {121, 121, true},   // cuEventSynchronize
    {126, 126, true},   // cuStreamSynchronize
    {216, 216, true},   // cuMemsetD8Async …
    {218, 218, true},  {220, 220, true}, {222, 222, true},
    {224, 224, true},  {226, 226, true}, {249, 254, true},  // cuMemsetD8_v2 …
    {276, 293, true},                                       // cuMemcpyHtoD_v2 …
    {305, 306, true},                                       // cuMemcpy, cuMemcpyAsync
    {307, 307, false},                                      // cuLaunchKernel
    {318, 321, true},                                       // cuMemcpyPeer …
    {397, 416, true},                                       // cuMemcpyHtoD_v2_ptds …
    {418, 433, true},                                       // cuMemcpyAsync_ptsz …
    {440, 440, true},                                       // cuStreamSynchronize_ptsz
    {442, 442, false},                                      // cuLaunchKernel_ptsz
    {477, 478, false},                                      // cuLaunchCooperativeKernel
    {480, 480, false},                                      // cuLaunchCooperativeKernelMultiDevice
    {514, 515, false},                                      // cuGraphLaunch
    {652, 653, false},                                      // cuLaunchKernelEx
    {776, 779, true},                                       // cuMemcpyBatchAsync …
    {796, 799, true},                                       // cuMemcpyBatchAsync_v2 …
    {800, 800, true},                                       // cuCtxSynchronize_v2
    {837, 840, true},                                       // cuMemcpyWithAttributesAsync …
};
/// The range of a function; null for one of which crema needs no record.
inline const FunctionRange* FindFunctionRange(std::uint32_t function) {
  for (const FunctionRange& range : kFunctions) {
    if (function <= range.last) return function >= range.first ? &range : nullptr;
  }
  return nullptr;
}

using RequestBuffer = void(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
using CompleteBuffer = void(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                            std::size_t valid_size);

/// The functions, null where the library has none of the name.
struct Cupti {
  CuptiResult (*activity_register_callbacks)(RequestBuffer* request, CompleteBuffer* complete);
  CuptiResult (*activity_register_timestamp_callback)(std::uint64_t (*now)());
  CuptiResult (*activity_enable)(std::uint32_t kind);
  CuptiResult (*activity_disable)(std::uint32_t kind);
  CuptiResult (*activity_enable_driver_api)(std::uint32_t function, std::uint8_t enable);  // CUPTI 13
  CuptiResult (*activity_flush_all)(std::uint32_t flag);
  CuptiResult (*activity_get_next_record)(std::uint8_t* buffer, std::size_t valid_size, void** record);
  CuptiResult (*activity_get_num_dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped);
  CuptiResult (*get_version)(std::uint32_t* version);
  CuptiResult (*set_thread_id_type)(std::uint32_t type);
  CuptiResult (*subscribe)(void** subscriber, void* callback, void* data);
  CuptiResult (*unsubscribe)(void* subscriber);
};
inline constexpr std::uint32_t kThreadIdOfLibrary = 0;   // CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT: pthread_self(3)
inline constexpr std::uint32_t kThreadIdOfSystem = 1;    // CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
inline constexpr std::uint32_t kForcedFlush = 1;         // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
inline constexpr CuptiResult kMultipleSubscribers = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

}  // namespace crema::gpu
