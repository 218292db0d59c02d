#include "collector/metrics/attempts/spell_sample.h"

#include <utility>

#include "collector/metrics/attempts/judged_attempts.h"
#include "collector/metrics/attempts/spell_membership.h"

namespace crema {
namespace {

/// Keeps every n-th of what it is given, so that no more than `kMostSampledChunks` are kept.
class EvenSample {
 public:
  void Add(const SampledAttempt& attempt) {
    if (seen_++ % step_ != 0) return;
    kept_.push_back(attempt);
    if (kept_.size() <= kMostSampledChunks) return;
    for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    step_ *= 2;
  }
  std::vector<SampledAttempt> Take() && { return std::move(kept_); }

 private:
  std::vector<SampledAttempt> kept_;
  size_t seen_ = 0;
  size_t step_ = 1;
};

}  // namespace

SpellSample SampleSpell(const AttemptRows& attempts, const SlowSpell& spell, const SpellGroups& groups,
                        const std::vector<DatasetFit>& fits) {
  EvenSample inside;
  std::vector<bool> has_dataset;
  ForEachJudged(attempts, groups.dataset_of_input, fits,
                [&](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
                  if (!IsInSpell(attempt, spell, groups)) return;
                  const uint32_t dataset = groups.dataset_of_input[attempt.input];
                  if (dataset >= has_dataset.size()) has_dataset.resize(dataset + size_t{1});
                  has_dataset[dataset] = true;
                  inside.Add({i, dataset, predicted_ns});
                });
  EvenSample elsewhere;
  ForEachJudged(attempts, groups.dataset_of_input, fits,
                [&](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
                  const uint32_t dataset = groups.dataset_of_input[attempt.input];
                  if (dataset >= has_dataset.size() || !has_dataset[dataset] || IsInSpell(attempt, spell, groups))
                    return;
                  elsewhere.Add({i, dataset, predicted_ns});
                });
  return {std::move(inside).Take(), std::move(elsewhere).Take()};
}

}  // namespace crema
