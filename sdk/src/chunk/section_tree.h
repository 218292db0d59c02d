// SectionTree: the section paths of one piece of work, and what was measured on each. Sites: sections as libraries
// beside the SDK know them.
#pragma once

#include "crema/internal/section_node.h"
#include "kernel/clock.h"
#include "log/json_line.h"
#include "process/allocation_counter.h"
#include "storage/arena.h"

namespace crema::internal {

/// The site of a section of a chunk that a helper works for, inside `kInHelpers`.
template <class Counter>
std::uint32_t HelperSite(const Counter& counter, const SectionNode* node) noexcept {
  if (node == nullptr || node->parent == nullptr) return kInHelpers;
  const std::uint32_t parent = HelperSite(counter, node->parent);
  return node->is_unkept ? parent : counter.find_site(parent, node->name(), node->name_length);
}

/// The site of a section of this thread, which keeps it in `noted`. `root_site`: that of the tree's root.
template <class Counter>
CREMA_NEVER_INLINE std::uint32_t FindSite(const Counter& counter, std::atomic<std::uint32_t> SectionNode::*noted,
                                          std::uint32_t root_site, SectionNode* node) noexcept {
  if (node->is_unkept) node = node->parent;
  std::uint32_t site = (node->*noted).load(std::memory_order_relaxed);
  if (site != 0) return site;
  site = node->parent == nullptr
             ? root_site
             : counter.find_site(FindSite(counter, noted, root_site, node->parent), node->name(), node->name_length);
  (node->*noted).store(site, std::memory_order_relaxed);
  return site;
}

/// The inside of a JSON string.
template <class Counter>
void AppendSitePath(const Counter& counter, std::uint32_t site, JsonLine* line) noexcept {
  if (site < kFirstNamedSite) return;
  const AllocationSite& named = *counter.site(site);
  AppendSitePath(counter, named.parent, line);
  if (named.parent >= kFirstNamedSite) line->Raw("/");
  line->StringPart({named.name, named.name_length}, true);
}

struct ThreadState;

/// Ends the open occurrence of `node`.
void AddOpenOccurrence(SectionNode* node, std::uint64_t now_ticks) noexcept;

/// Adds to the node's CPU time, which is unknown from the first `kUnknownCpu` on.
void AddCpu(SectionNode* node, std::int64_t cpu_ns) noexcept;

inline constexpr std::uint32_t kMaxDepth = 64;
inline constexpr std::size_t kMaxPaths = 1000;

/// What the writer of a chunk's line notes of a section.
struct SectionRow {
  std::int64_t total_ns = 0;
  std::int64_t children_ns = 0;  ///< of rows inside
  std::uint32_t index = 0;       ///< among the rows
  bool is_written = false;       ///< else it has no row
};

/// A node, before which its row stands, and behind which its name.
struct NodeWithRow {
  SectionRow row;
  SectionNode node;
};
static_assert(sizeof(NodeWithRow) == sizeof(SectionRow) + sizeof(SectionNode));

inline SectionRow* RowOf(SectionNode* node) noexcept { return reinterpret_cast<SectionRow*>(node) - 1; }
inline const SectionRow* RowOf(const SectionNode* node) noexcept {
  return reinterpret_cast<const SectionRow*>(node) - 1;
}

template <class Function>
void ForEachChild(const SectionNode* node, Function function) {
  for (SectionNode* child = node->first_child.load(std::memory_order_acquire); child != nullptr;
       child = child->next_sibling.load(std::memory_order_acquire)) {
    function(child);
  }
}

template <class Function>
void ForEachDescendant(const SectionNode* node, Function function) {
  ForEachChild(node, [&](SectionNode* child) {
    function(child);
    ForEachDescendant(child, function);
  });
}

/// Nodes stay from one chunk to the next: a steady state looks names up and creates nothing. The owning thread changes
/// it; the sampler may read the tree of sections outside chunks meanwhile (nodes are published before they are linked).
class SectionTree {
 public:
  SectionTree() noexcept;
  SectionTree(const SectionTree&) = delete;
  SectionTree& operator=(const SectionTree&) = delete;

  SectionNode* root() noexcept { return &root_.node; }
  /// The child with this name, created if need be. Beyond the limits, which is counted, a child without a row: what
  /// is inside it must not be taken for what is beside it. Inside such a child, nullptr.
  SectionNode* FindOrAdd(SectionNode* parent, std::string_view name) noexcept;
  /// Adds everything that `other` measured, below the node of this tree that has the path of `at` in its own tree
  /// (nullptr: the root). Where `other` is the tree outside chunks of a thread that may be running, sections that it
  /// has open count up to now.
  void Merge(SectionTree* other, const SectionNode* at, const ThreadState* running = nullptr) noexcept;
  /// The node of this tree with the path that `node` has in another one, below the path of `at` in yet another
  /// (nullptr: the root); created if need be, nullptr beyond the limits.
  SectionNode* Counterpart(const SectionNode* node, const SectionNode* at) noexcept;
  /// Sets all measurements back to none, for the next chunk.
  void Reset() noexcept;

  /// Occurrences that found no place.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  /// Enters and exits that were measured, for the cost of instrumentation.
  std::uint64_t Occurrences() noexcept;

 private:
  SectionNode* FindOrAddKept(SectionNode* parent, std::string_view name) noexcept;
  SectionNode* NewNode(SectionNode* parent, std::string_view name) noexcept;
  struct MergeSource {
    bool is_merged;
    const ThreadState* running;
  };
  std::uint64_t MergeChildren(const MergeSource& source, const SectionNode* from, SectionNode* to) noexcept;

  static constexpr std::size_t kBuckets = 256;
  NodeWithRow root_;
  SectionNode* buckets_[kBuckets] = {};
  Arena arena_;
  std::size_t size_ = 0;
  int mostly_unused_ = 0;  ///< chunks in a row that left most paths unused
  std::atomic<std::uint64_t> dropped_{0};
  bool merged_ = false;  ///< self times are in `self_ticks`
};

/// `node`, or the section around it where it is one that found no place.
inline const SectionNode* Kept(const SectionNode* node) noexcept { return node->is_unkept ? node->parent : node; }

/// Whose rows are written, which decides what their self time is.
enum class SectionRows : std::uint8_t {
  kOwner,   ///< of one thread: total less children, exact in ns
  kHelper,  ///< merged, of helper threads: rows carry `"helper":true`
  kMerged,  ///< merged, of all threads outside chunks
};

/// `,"sections":[…]`: the tree's rows in pre-order, and then those of `helpers`, unless null. Beyond `kMaxPaths` rows
/// or half of the longest line the rest stays in its parent's self time, added to `*dropped`.
void AppendSections(SectionNode* root, SectionRows kind, SectionNode* helpers, const TickRate& rate, JsonLine* line,
                    std::uint64_t* dropped) noexcept;

// The sections of a chunk that is over, for those who show them elsewhere (the C API, and Dask's own view by it).

struct FinishedSection {
  const char* path = nullptr;  ///< ends with NUL; "": the chunk itself
  bool is_helper = false;      ///< measured on threads that helped
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t self_ns = 0;  ///< less the sections inside it; the owner's add up to the chunk's duration
};

using SectionVisitor = void (*)(void* context, const FinishedSection& section);

/// Calls `visit` for the chunk that ended last on this thread, and for each of its sections as its record has them;
/// returns how often. Each chunk is handed out once, and not any more when the next one has begun. `visit` may do
/// whatever the thread may do. Allocates while it runs.
std::size_t VisitFinishedSections(SectionVisitor visit, void* context) noexcept;

/// Appends the path of `node` as the inside of a JSON string; nothing for a root.
void AppendPath(const SectionNode* node, JsonLine* line) noexcept;

}  // namespace crema::internal
