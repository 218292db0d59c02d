// The fields of `gpu` lines (docs/record_log.md, "Types").
#ifndef CREMA_COLLECTOR_RECORDS_GPU_FIELDS_H_
#define CREMA_COLLECTOR_RECORDS_GPU_FIELDS_H_

#include "collector/records/facts.h"
#include "collector/records/json_fields.h"

namespace crema::json {

inline constexpr Field<GpuRowFact> kGpuRowFields[] = {
    NotNegative<&GpuRowFact::chunk>("chunk"),
    Any<&GpuRowFact::dataset>("dataset"),
    Any<&GpuRowFact::section>("section", kRequired),
    NotNegative<&GpuRowFact::launches>("launches", kRequired),
    NotNegative<&GpuRowFact::kernel_ns>("kernel_ns", kRequired),
    NotNegative<&GpuRowFact::copies>("copies", kRequired),
    NotNegative<&GpuRowFact::copy_ns>("copy_ns", kRequired),
    NotNegative<&GpuRowFact::to_device_bytes>("to_device_bytes", kRequired),
    NotNegative<&GpuRowFact::from_device_bytes>("from_device_bytes", kRequired),
    NotNegative<&GpuRowFact::on_device_bytes>("on_device_bytes", kRequired),
    NotNegative<&GpuRowFact::wait_ns>("wait_ns", kRequired),
    NotNegative<&GpuRowFact::wait_cpu_ns>("wait_cpu_ns"),
};

inline constexpr Field<GpuKernelFact> kGpuKernelFields[] = {
    Any<&GpuKernelFact::name>("name", kRequired),
    Any<&GpuKernelFact::dataset>("dataset"),
    Any<&GpuKernelFact::section>("section", kRequired),
    NotNegative<&GpuKernelFact::count>("count", kRequired),
    NotNegative<&GpuKernelFact::total_ns>("total_ns", kRequired),
    NotNegative<&GpuKernelFact::max_ns>("max_ns", kRequired),
};

inline constexpr Field<GpuFact> kGpuFields[] = {
    Skip<GpuFact>("type"),
    NotNegative<&GpuFact::time_ns>("time_ns", kRequired),
    Any<&GpuFact::reason>("reason"),
    NotNegative<&GpuFact::until_ns>("until_ns"),
    Skip<GpuFact>("cupti_version"),
    NotNegative<&GpuFact::busy_ns>("busy_ns"),
    NotNegative<&GpuFact::lost>("lost"),
    Objects<&GpuFact::rows, kGpuRowFields>("work"),
    Objects<&GpuFact::kernels, kGpuKernelFields>("kernels"),
    Any<&GpuFact::is_last>("last", kRequired),
};

}  // namespace crema::json

#endif  // CREMA_COLLECTOR_RECORDS_GPU_FIELDS_H_
