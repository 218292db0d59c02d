// Attempts that failed before ROOT gave them an entry: files that it could not open.
#ifndef CREMA_ROOT_FAILED_INPUT_H_
#define CREMA_ROOT_FAILED_INPUT_H_

#include <TChain.h>
#include <TChainElement.h>
#include <TObjArray.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "crema/chunk.h"
#include "crema/root/error_notes.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/track_metrics.h"

namespace crema::internal {

/// One of `dataset` and `pass`. The reason is what ROOT said of the file.
inline void RecordFailedInput(std::string_view dataset, std::string_view pass, std::string_view file,
                              std::string_view tree) {
  Chunk where(dataset);
  where.pass = pass;
  where.file = file;
  where.tree = tree;
  TrackMetrics chunk(where);
  if (const std::string error = ErrorNotes::About(file.substr(file.rfind('/') + 1)); !error.empty()) {
    chunk.Fail(error);
  } else {
    chunk.Fail(file.empty() ? "exception" : "ROOT could not open it");
  }
}

/// By the codes of `TChain::LoadTree`: -3 for the file, -4 where the tree is not in it. A tree without entries has
/// others.
inline bool IsUnopened(const TChainElement& file) { return file.GetLoadResult() == -3 || file.GetLoadResult() == -4; }

/// A failed attempt for each file that a chain has left out, with a message and no exception, in its entries [first,
/// last). Whether there is any. `tree`: of another kind than a chain, it leaves out none.
inline bool RecordUnopened(const TTree* tree, std::string_view dataset, std::string_view pass, std::int64_t first = 0,
                           std::int64_t last = TTree::kMaxEntries) {
  const auto* chain = dynamic_cast<const TChain*>(tree);
  if (chain == nullptr) return false;
  bool is_any = false;
  int number = 0;
  for (const TObject* object : *chain->GetListOfFiles()) {
    const auto& file = *static_cast<const TChainElement*>(object);
    const std::int64_t offset = chain->GetTreeOffset()[number++];
    if (!IsUnopened(file) || offset < first || offset >= last) continue;
    RecordFailedInput(dataset, pass, file.GetTitle(), file.GetName());
    is_any = true;
  }
  return is_any;
}

/// The one file of a chain that ROOT's errors name; null: none, or several.
inline const TChainElement* FileOfErrors(const TTree* tree) {
  const auto* chain = dynamic_cast<const TChain*>(tree);
  if (chain == nullptr) return nullptr;
  const TChainElement* named = nullptr;
  for (const TObject* object : *chain->GetListOfFiles()) {
    if (ErrorNotes::About(object->GetTitle()).empty()) continue;
    if (named != nullptr) return nullptr;
    named = static_cast<const TChainElement*>(object);
  }
  return named;
}

}  // namespace crema::internal

#endif  // CREMA_ROOT_FAILED_INPUT_H_
