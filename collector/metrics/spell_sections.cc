#include "collector/metrics/spell_sections.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/attempts/spell_sample.h"

namespace crema {
namespace {

constexpr double kMostOfExcess = 0.5;  // less of it, and no one section was slow

/// What chunks of one dataset took.
struct TimeBySection {
  double whole_ns = 0;
  std::map<std::string, double> self_ns;

  void Add(const ChunkFact& chunk) {
    whole_ns += static_cast<double>(chunk.duration_ns());
    for (const SectionFact& section : chunk.sections) {
      if (!section.helper) self_ns[std::string(section.path)] += static_cast<double>(section.self_ns);
    }
  }
};

using TimeByDataset = std::map<uint32_t, TimeBySection>;

TimeByDataset ReadSample(const std::vector<SampledAttempt>& sample, const RecordFindings& findings,
                         const SearchedLogs& logs, std::map<uint32_t, double>* predicted_ns) {
  std::vector<size_t> attempts;
  attempts.reserve(sample.size());
  for (const SampledAttempt& one : sample) attempts.push_back(one.attempt);
  TimeByDataset times;
  FindChunks(findings, attempts, logs, [&](size_t i, const ChunkFact& chunk) {
    times[sample[i].dataset].Add(chunk);
    (*predicted_ns)[sample[i].dataset] += static_cast<double>(sample[i].predicted_ns);
  });
  return times;
}

std::string SlowSection(const SpellSample& sample, const RecordFindings& findings, const SearchedLogs& logs) {
  std::map<uint32_t, double> predicted_ns;
  std::map<uint32_t, double> unused;
  const TimeByDataset inside = ReadSample(sample.inside, findings, logs, &predicted_ns);
  TimeByDataset elsewhere = ReadSample(sample.elsewhere, findings, logs, &unused);
  double all_excess_ns = 0;
  std::map<std::string, double> excess_ns;
  for (const auto& [dataset, times] : inside) {
    const TimeBySection& usual = elsewhere[dataset];
    if (usual.whole_ns <= 0) continue;
    all_excess_ns += times.whole_ns - predicted_ns[dataset];
    for (const auto& [path, self_ns] : times.self_ns) excess_ns[path] += self_ns;
    for (const auto& [path, self_ns] : usual.self_ns) {
      excess_ns[path] -= self_ns / usual.whole_ns * predicted_ns[dataset];
    }
  }
  for (const auto& [path, of_path] : excess_ns) {
    if (all_excess_ns > 0 && of_path > kMostOfExcess * all_excess_ns) return path;
  }
  return "";
}

}  // namespace

void NameSpellSections(const SearchedLogs& logs, RunFigures* figures) {
  for (NamedSpell& named : figures->slow_spells) {
    if (!named.sample.inside.empty()) named.section = SlowSection(named.sample, figures->findings, logs);
    named.sample = SpellSample();
  }
}

}  // namespace crema
