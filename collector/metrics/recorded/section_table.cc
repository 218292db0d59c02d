#include "collector/metrics/recorded/section_table.h"

#include <map>

namespace crema {
namespace {

// As deep as the SDK nests; what a hostile path holds beyond is one name, so that the recursion below stays shallow.
constexpr int kMaxDepth = 64;

struct Node {
  std::map<std::string, Node, std::less<>> children;
  SectionRow* row = nullptr;

  double weight() const {
    if (row != nullptr) return *row->total;
    return SumOf<double>(children, [](const auto& child) { return child.second.weight(); });
  }
};

Node& NodeAt(Node& root, std::string_view path) {
  Node* node = &root;
  for (int depth = 1;; ++depth) {
    const size_t slash = depth < kMaxDepth ? path.find('/') : std::string_view::npos;
    node = &node->children[std::string(path.substr(0, slash))];
    if (slash == std::string_view::npos) return *node;
    path.remove_prefix(slash + 1);
  }
}

void MoveInOrder(Node& node, std::vector<SectionRow>& ordered) {
  if (node.row != nullptr) ordered.push_back(std::move(*node.row));
  std::vector<std::pair<double, Node*>> children;  // by name, which a stable sort keeps among equals
  for (auto& [name, child] : node.children) children.emplace_back(child.weight(), &child);
  SortLargestFirst(&children, &std::pair<double, Node*>::first);
  for (const auto& [weight, child] : children) MoveInOrder(*child, ordered);
}

absl::int128 SelfTime(const std::vector<SectionFact>& sections, bool of_helpers) {
  return SumOf<absl::int128>(sections, [of_helpers](const SectionFact& section) {
    return section.helper == of_helpers ? section.self_ns : 0;
  });
}

/// Helpers' time by their scopes; by their sections where a writer does not give these. An event that no thread holds
/// (one that does computes at least what begins and ends a chunk) has no owner beside the threads that run its tasks.
template <class Fact>
absl::int128 TimeOfHelpers(const Fact& fact, int64_t duration_ns) {
  const std::optional<int64_t> scope_ns = fact.helper_scope_ns, union_ns = fact.helper_union_ns;
  const auto helpers_ns = std::max<absl::int128>(SelfTime(fact.sections, true), scope_ns.value_or(0));
  const bool is_held = fact.cpu_ns != 0 || union_ns != duration_ns;
  return is_held ? helpers_ns : std::max<absl::int128>(0, helpers_ns - duration_ns);
}

// Sums convert the processor's ticks at once, their chunks one by one: so they may differ, by as much as the ticks'
// rate became better known.
int64_t RoundingOf(const SumsFact& sums) { return sums.duration_ns / 1000 + 100 * sums.chunks; }

void FillPerChunk(SectionRow& row, const QuantileSketch& total_ns, std::optional<int64_t> chunks, int64_t attempts) {
  const auto seconds = [&](double p) -> std::optional<double> {
    const std::optional<double> ns = total_ns.Quantile(p);
    return ns.has_value() ? std::optional<double>(*ns / 1e9) : std::nullopt;
  };
  row.chunks = chunks;
  row.p50 = seconds(0.50);
  row.p95 = seconds(0.95);
  row.p99 = seconds(0.99);
  if (attempts > 0) row.mean_per_chunk = *row.total / static_cast<double>(attempts);
  if (chunks.value_or(0) > 0) row.mean_when_run = *row.total / static_cast<double>(*chunks);
}

}  // namespace

void OrderAsTree(std::vector<SectionRow>& rows) {
  Node owner;
  Node helper;
  for (SectionRow& row : rows) NodeAt(*row.helper ? helper : owner, row.path).row = &row;
  std::vector<SectionRow> ordered;
  ordered.reserve(rows.size());
  MoveInOrder(owner, ordered);
  MoveInOrder(helper, ordered);
  rows = std::move(ordered);
}

std::string_view SectionTable::KeyOf(const SectionFact& section) {
  return key_.assign(1, section.helper ? 'h' : 'o').append(section.path);
}

uint64_t SectionTable::RankOf(std::string_view key) {
  const auto depth = static_cast<uint64_t>(std::count(key.begin(), key.end(), '/'));
  return std::min<uint64_t>(depth, 255) << 56 | HashOf(key) >> 8;
}

template <class Fact>
bool SectionTable::AddWhole(const Fact& fact, int64_t chunks, int64_t duration_ns, int64_t tolerance_ns) {
  const absl::int128 self_ns = SelfTime(fact.sections, false);
  attempts_ += chunks;
  duration_ns_ += duration_ns;
  helpers_ns_ += TimeOfHelpers(fact, duration_ns);
  sections_dropped_ = SaturatingAdd(sections_dropped_, fact.sections_dropped);

  const bool consistent = self_ns <= absl::int128(duration_ns) + tolerance_ns;
  SectionFact other;
  other.count = chunks;
  other.total_ns = other.self_ns =
      consistent ? static_cast<int64_t>(std::max<absl::int128>(0, duration_ns - self_ns)) : duration_ns;
  if constexpr (std::is_same_v<Fact, ChunkFact>) {  // of sums, single ones are not known
    other.min_ns = other.max_ns = other.total_ns;
    other_.total_ns.Add(static_cast<double>(other.total_ns));
  }
  other_.sums.Add(other);
  other_.chunks += chunks;
  if (!consistent) inconsistent_chunks_ += chunks;
  return consistent;
}

void SectionTable::Add(const ChunkFact& chunk) {
  if (!AddWhole(chunk, 1, chunk.duration_ns(), 0)) return;
  for (size_t i = 0; i < chunk.sections.size(); ++i) {
    const SectionFact& section = chunk.sections[i];
    Path* path = paths_.FindAt(i, section.path, section.helper ? "h" : "o", [&] { return KeyOf(section); });
    if (path == nullptr) {
      ++sections_dropped_;
      continue;
    }
    path->sums.Add(section);
    ++path->chunks;
    path->total_ns.Add(static_cast<double>(section.total_ns));
  }
  paths_.MakeRoom();
}

void SectionTable::Add(const SumsFact& sums) {
  has_sums_ = true;
  if (!AddWhole(sums, sums.chunks, sums.duration_ns, RoundingOf(sums))) return;
  for (const SectionFact& section : sums.sections) {
    Path* path = paths_.Find(KeyOf(section));
    if (path == nullptr) {
      sections_dropped_ = SaturatingAdd(sections_dropped_, section.count);
      continue;
    }
    path->sums.Add(section);
    path->chunks += std::min(section.count, sums.chunks);
    path->has_sums = true;
  }
  paths_.MakeRoom();
}

void SectionTable::Merge(const SectionTable& other) {
  has_sums_ |= other.has_sums_;
  attempts_ += other.attempts_;
  duration_ns_ += other.duration_ns_;
  helpers_ns_ += other.helpers_ns_;
  sections_dropped_ = SaturatingAdd(sections_dropped_, other.sections_dropped_);
  inconsistent_chunks_ += other.inconsistent_chunks_;
  other_.Add(other.other_);
  paths_.Merge(other.paths_);
}

SectionFindings SectionTable::Finalize(int64_t nested_ns) const {
  SectionFindings findings;
  findings.inconsistent_chunks = inconsistent_chunks_;
  if (attempts_ == 0) return findings;
  findings.other_self_ns = duration_ns_ - nested_ns;
  const ChunkCount dropped = paths_.Finalize([&](std::string_view key, const Path& path) {
    const bool helper = key.front() == 'h';
    if (!helper) findings.other_self_ns -= path.sums.self_ns;
    SectionRow& row = findings.rows.emplace_back(RowOf(std::string(key.substr(1)), helper, path.sums));
    FillPerChunk(row, path.total_ns, path.has_sums ? std::nullopt : std::optional(path.chunks), attempts_);
  });
  findings.sections_dropped = SaturatingAdd(sections_dropped_, dropped.chunks);

  // Sections of a chunk also hold the time of a chunk inside it that another copy of the SDK recorded. If they come to
  // more than the chunks' own time, their shares are not known.
  const bool is_divided = nested_ns == 0 || findings.other_self_ns >= 0;
  const double whole = SecondsOf(duration_ns_ - nested_ns + helpers_ns_);
  const auto share = [&](double self) {
    return whole > 0 && is_divided ? std::optional<double>(self / whole) : std::nullopt;
  };
  for (SectionRow& row : findings.rows) row.share = share(*row.self);
  if (has_sums_ || nested_ns > 0) findings.other_self_ns = std::max<absl::int128>(0, findings.other_self_ns);
  OrderAsTree(findings.rows);

  SectionRow other = RowOf(std::string(kOtherName), false, other_.sums);
  // What found no room above is the owner's time outside every section that is shown.
  other.total = other.self = SecondsOf(findings.other_self_ns);
  if (*other.count > 0) other.mean = *other.total / *other.count;
  FillPerChunk(other, other_.total_ns, attempts_, attempts_);
  other.share = share(*other.self);
  findings.rows.push_back(std::move(other));
  return findings;
}

}  // namespace crema
