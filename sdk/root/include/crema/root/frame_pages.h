// MetricsOfPages: the metrics of the RNTuple pages that a slot of RDataFrame reads.
#ifndef CREMA_ROOT_FRAME_PAGES_H_
#define CREMA_ROOT_FRAME_PAGES_H_

#include <RVersion.h>

#include <ROOT/RDF/Utils.hxx>
#include <ROOT/RDataSource.hxx>
#include <ROOT/RNTupleDS.hxx>
#include <ROOT/RNTupleMetrics.hxx>
#include <ROOT/RPageStorage.hxx>
#include <cstddef>

#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

// RDataFrame shows nobody the sources that it reads pages from. An explicit instantiation may name its private members.
#if ROOT_VERSION_CODE < ROOT_VERSION(6, 41, 0)  // another version may have other members
#define CREMA_ROOT_HAS_FRAME_PAGES
template <class Tag, auto Member>
struct NtupleMember {
  friend auto& MemberOf(Tag, const ROOT::RDF::RNTupleDS& source) { return source.*Member; }
};
struct RangesTag {
  friend auto& MemberOf(RangesTag, const ROOT::RDF::RNTupleDS& source);
};
struct RangeOfSlotTag {
  friend auto& MemberOf(RangeOfSlotTag, const ROOT::RDF::RNTupleDS& source);
};
template struct NtupleMember<RangesTag, &ROOT::RDF::RNTupleDS::fCurrentRanges>;
template struct NtupleMember<RangeOfSlotTag, &ROOT::RDF::RNTupleDS::fSlotsToRangeIdxs>;
#endif

/// Null: the frame reads something else, or this ROOT keeps it elsewhere. They end when ROOT goes on to the next files.
inline ROOT::Experimental::Detail::RNTupleMetrics* MetricsOfPages(const ROOT::RDF::RDataSource* source, unsigned slot) {
#ifdef CREMA_ROOT_HAS_FRAME_PAGES
  const auto* ntuples = dynamic_cast<const ROOT::RDF::RNTupleDS*>(source);
  if (ntuples == nullptr) return nullptr;
  const auto& ranges = MemberOf(RangesTag(), *ntuples);
  const auto& range_of_slot = MemberOf(RangeOfSlotTag(), *ntuples);
  const std::size_t place = slot * ROOT::Internal::RDF::CacheLineStep<std::size_t>();
  if (place >= range_of_slot.size() || range_of_slot[place] >= ranges.size()) return nullptr;
  const auto& pages = ranges[range_of_slot[place]].fSource;
  return pages != nullptr ? &pages->GetMetrics() : nullptr;
#else
  static_cast<void>(source);
  static_cast<void>(slot);
  return nullptr;
#endif
}

}  // namespace crema::internal

#endif  // CREMA_ROOT_FRAME_PAGES_H_
