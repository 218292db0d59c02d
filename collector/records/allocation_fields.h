// The fields of `allocations` lines (docs/record_log.md, "Types").
#ifndef CREMA_COLLECTOR_RECORDS_ALLOCATION_FIELDS_H_
#define CREMA_COLLECTOR_RECORDS_ALLOCATION_FIELDS_H_

#include "collector/records/facts.h"
#include "collector/records/json_fields.h"

namespace crema::json {

inline constexpr Field<AllocationSiteFact> kAllocationSiteFields[] = {
    Any<&AllocationSiteFact::path>("path", kRequired),
    Any<&AllocationSiteFact::of>("of", kRequired),
    NotNegative<&AllocationSiteFact::allocations>("allocations", kRequired),
    NotNegative<&AllocationSiteFact::allocated_bytes>("allocated_bytes", kRequired),
    NotNegative<&AllocationSiteFact::live_bytes>("live_bytes"),
    NotNegative<&AllocationSiteFact::peak_live_bytes>("peak_live_bytes"),
    Any<&AllocationSiteFact::live_growth_bytes>("live_growth_bytes"),
};

inline constexpr Field<AllocationsFact> kAllocationsFields[] = {
    Skip<AllocationsFact>("type"),
    NotNegative<&AllocationsFact::time_ns>("time_ns", kRequired),
    Any<&AllocationsFact::is_last>("last", kRequired),
    Any<&AllocationsFact::reason>("reason"),
    NotNegative<&AllocationsFact::allocations>("allocations"),
    NotNegative<&AllocationsFact::allocated_bytes>("allocated_bytes"),
    NotNegative<&AllocationsFact::live_bytes>("live_bytes"),
    NotNegative<&AllocationsFact::peak_live_bytes>("peak_live_bytes"),
    NotNegative<&AllocationsFact::cost_ns>("cost_ns"),
    Objects<&AllocationsFact::sites, kAllocationSiteFields>("sites"),
};

}  // namespace crema::json

#endif  // CREMA_COLLECTOR_RECORDS_ALLOCATION_FIELDS_H_
