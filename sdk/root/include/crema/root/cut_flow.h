// CutFlow: how many events of a chunk passed a frame's named filters.
#ifndef CREMA_ROOT_CUT_FLOW_H_
#define CREMA_ROOT_CUT_FLOW_H_

#include <ROOT/RDF/RFilterBase.hxx>
#include <ROOT/RDF/RLoopManager.hxx>
#include <ROOT/RDF/Utils.hxx>
#include <cstddef>
#include <string>
#include <vector>

#include "crema/record_cut.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema {
namespace internal {

/// The named filters of one event loop, in the order in which they were booked. What a filter let pass is counted by
/// slot; a slot is its task's while the task runs.
class NamedFilters {
 public:
  /// Before the loop's tasks begin.
  void Find(const ROOT::Detail::RDF::RLoopManager& loop_manager) {
    filters_.clear();
    for (auto* node : loop_manager.GetGraphEdges()) {
      auto* filter = dynamic_cast<ROOT::Detail::RDF::RFilterBase*>(node);
      if (filter != nullptr && filter->HasName() && Counts::IsNominal(*filter)) filters_.push_back(filter);
    }
  }
  std::size_t size() const { return filters_.size(); }
  std::string Name(std::size_t filter) const { return filters_[filter]->GetName(); }
  ULong64_t Passed(std::size_t filter, unsigned slot) const {
    return Counts::Of(*filters_[filter])[slot * ROOT::Internal::RDF::CacheLineStep<ULong64_t>()];
  }

 private:
  /// ROOT keeps them for classes that derive from a filter. For each systematic variation (`Vary`) there is one more
  /// filter of the same name.
  struct Counts : ROOT::Detail::RDF::RFilterBase {
    static const std::vector<ULong64_t>& Of(const ROOT::Detail::RDF::RFilterBase& filter) {
      return filter.*(&Counts::fAccepted);
    }
    static bool IsNominal(const ROOT::Detail::RDF::RFilterBase& filter) {
      return filter.*(&Counts::fVariation) == "nominal";
    }
  };

  std::vector<ROOT::Detail::RDF::RFilterBase*> filters_;
};

/// What passed during one chunk.
class CutFlow {
 public:
  void Begin(const NamedFilters& filters, unsigned slot) {
    before_.resize(filters.size());
    for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = filters.Passed(i, slot);
  }
  /// Tells the chunk of this thread.
  void End(const NamedFilters& filters, unsigned slot, std::int64_t events) const {
    if (before_.empty()) return;
    RecordCut("all events", events);
    for (std::size_t i = 0; i < before_.size(); ++i) {
      RecordCut(filters.Name(i), static_cast<std::int64_t>(filters.Passed(i, slot) - before_[i]));
    }
  }

 private:
  std::vector<ULong64_t> before_;
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_ROOT_CUT_FLOW_H_
