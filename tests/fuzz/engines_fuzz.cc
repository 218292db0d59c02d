// Logs of engines, of any bytes: each reader refuses or reads them, and crema copes with the facts. The first byte
// chooses the engine.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/engines/engines.h"
#include "collector/metrics/measure.h"
#include "tests/fuzz/scratch_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crema;
  if (size == 0) return 0;
  const Engine& engine = *Engines()[static_cast<uint8_t>(data[0] - '0') % Engines().size()];
  const std::string_view log(reinterpret_cast<const char*>(data) + 1, size - 1);
  MeasureOptions options;
  options.sources = {WriteScratch("engine" + std::string(engine.log_suffix), log)};
  options.run = "all";
  absl::StatusOr<MeasuredRun> measured = Measure(options);
  if (measured.ok()) AddInsight(&measured->measurement);
  return 0;
}
