// Calls everything that the SDK offers, with the argument types that analyses have, so that the templates in its
// headers are compiled too. It is checked, never run.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "crema/crema.h"

namespace {

class TrackNothing : public crema::BaseInstrumentationContext {
 public:
  explicit TrackNothing(std::string_view name) noexcept : BaseInstrumentationContext(name) {}
  ~TrackNothing() { RecordMetric("seconds", std::chrono::duration<double>(elapsed()).count(), failed() ? "" : "s"); }
};

int Process(const std::string& dataset, unsigned first, std::size_t last) {
  const crema::Span process("process");
  crema::TrackMetrics chunk({dataset, "events.root", first, last});
  {
    const char buffer[32] = "cluster";
    const crema::TrackSection literal("read");
    const crema::TrackSection from_buffer(buffer, crema::kCpuTime);
    const crema::TrackSection from_string(dataset);
    const crema::TrackMemory memory("jets");
    const TrackNothing nothing("nothing");
    const crema::TrackIo io("input");
    const crema::TrackPageFaults page_faults("input");
    const crema::TrackPerfCounters perf_counters("input");
    const crema::TrackHelper helper(chunk.handle());
    crema::TrackRequest request("root://eos.example.org", "read", last);
    request.AddBytes(first);
    request.Fail();
    crema::TrackEvent event({dataset, "events.root", first, last}, crema::kSummed);
    const crema::Ready ready = crema::MarkReady(event.handle(), "source");
    const crema::TrackTask task(event.handle(), "source", ready);
    const crema::TrackRequest of_event(crema::CurrentHandle(), "root://eos.example.org", "open");
    event.SetEvents(last);
    event.AddBytesRead(first);
    const crema::TrackActivity activity("decompress");
    const crema::Meter meter("decompress");
    chunk.AddBytesRead(last);
    chunk.AddBytesRead(first, last);
    crema::AddBytesRead(1);
    crema::RecordMetric("jets", last, "count");
    crema::RecordMetric("weight", 0.5F);
    crema::RecordMetric(crema::metric::kReadWall, 0.1, "s");
    crema::RecordCut("two leptons", last);
    crema::RecordCut("two leptons", 3, 2.5);
    crema::RecordActivity("cache-hit", last, "count");
    crema::DigestMetric("read", 0.25, "seconds");
    crema::SetAttribute("generator", "MadGraph");
  }
  chunk.SetAttribute("site", dataset);
  chunk.AddColumns({"Jet_pt", dataset});
  chunk.SetFileInfo(120, last);
  chunk.SetEvents(last);
  chunk.Fail("no reason");
  return 1;
}

}  // namespace

int main() {
  crema::Options options;
  options.directory = "records";
  options.threads = 2;
  if (crema::Enable(options) && crema::Enabled()) crema::Flush();
  const crema::TrackMetrics plain("ttbar");
  const int done = crema::RunChunk({"ttbar", "events.root", std::uint64_t{0}, 10},
                                   [](crema::TrackMetrics&) { return Process("ttbar", 0U, 10U); });
  crema::Disable();
  return done;
}
