// A plug-in that has the SDK linked into it, as native code below a Python analysis may have.
#include "crema/crema.h"

// NOLINTBEGIN(readability-identifier-naming): names as C has them
extern "C" {

/// Records a section below whatever is open, or a chunk of its own where nothing is.
__attribute__((visibility("default"))) void plugin_section(const char* name) { crema::TrackSection section(name); }
__attribute__((visibility("default"))) void plugin_chunk(const char* dataset) {
  crema::TrackMetrics chunk({dataset, "plugin.root", 0, 1});
  crema::TrackSection section("plug-in's");
  crema::RecordMetric("jets", 2, "count");
}
/// A chunk, and in it a section that calls `inner`.
__attribute__((visibility("default"))) void plugin_call(const char* dataset, void (*inner)()) {
  crema::TrackMetrics chunk({dataset, "plugin.root", 0, 1});
  crema::TrackSection section("calls");
  inner();
}
__attribute__((visibility("default"))) void plugin_helper(const crema::ChunkHandle* handle) {
  crema::TrackHelper helper(*handle);
  crema::TrackSection section("helps");
}
__attribute__((visibility("default"))) int plugin_records() { return crema::Enabled() ? 1 : 0; }
}
// NOLINTEND(readability-identifier-naming)
