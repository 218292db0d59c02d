#include "chunk/section_tree.h"

#include "chunk/thread_state.h"
#include "process/process_recorder.h"

namespace crema::internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
/// Beyond so many paths, those that the last chunk did not use are forgotten, so that names with a counter in them
/// cannot fill the tree for ever.
constexpr std::size_t kKeptPaths = kMaxPaths / 2;
/// So many chunks in a row may leave most paths unused before these are forgotten: each chunk looks at all that are
/// there, but a program whose chunks alternate between two kinds should not make its paths anew each time.
constexpr int kPatience = 8;

/// What a cursor points at where nothing is expected: no name has its length, so a look-up always follows.
struct NobodyNode : SectionNode {
  constexpr NobodyNode() { name_length = UINT32_MAX; }
};
NobodyNode g_nobody;

std::uint32_t Hash(const SectionNode* parent, std::string_view name) {
  // FNV-1a over the name, begun with the parent's own hash: equal names below different parents spread.
  std::uint32_t hash = 2166136261u ^ parent->hash;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

void Forget(SectionNode* node) {
  for (auto* sum : {&node->count, &node->total_ticks, &node->max_ticks, &node->failed}) sum->store(0, kRelaxed);
  node->min_ticks.store(UINT64_MAX, kRelaxed);
  node->cpu_ns.store(-1, kRelaxed);
  node->self_ticks = node->guard_ticks = 0;
  for (auto* site : {&node->allocation_site, &node->gpu_site}) site->store(0, kRelaxed);  // depends on a helper's chunk
}

/// Occurrences of `node` and all below it.
std::uint64_t OccurrencesFrom(const SectionNode* node) {
  std::uint64_t occurrences = node->count.load(kRelaxed);
  ForEachDescendant(node, [&](const SectionNode* below) { occurrences += below->count.load(kRelaxed); });
  return occurrences;
}

void AddTo(std::atomic<std::uint64_t>* sum, std::uint64_t value) { sum->store(sum->load(kRelaxed) + value, kRelaxed); }

bool IsOrIsAround(const SectionNode* node, const SectionNode* open) {
  while (open != nullptr && open != node) open = open->parent;
  return open != nullptr;
}

/// Ticks of `node` so far, its open occurrence included. The thread may leave and enter sections meanwhile: an
/// occurrence counts as open only if it was so before and after its total was read.
std::uint64_t TicksSoFar(const SectionNode* node, const ThreadState* running) {
  if (running != nullptr && IsOrIsAround(node, running->OpenOutside())) {
    const std::uint64_t start = node->start_ticks.load(kRelaxed);
    const std::uint64_t ended = node->total_ticks.load(std::memory_order_acquire);
    const std::uint64_t now = Ticks(running);
    if (start != 0 && IsOrIsAround(node, running->OpenOutside()) && node->start_ticks.load(kRelaxed) == start) {
      return start < now ? ended + (now - start) : ended;
    }
  }
  return node->total_ticks.load(kRelaxed);
}

/// Writes a tree's rows in two passes: first it decides which rows there are, so that self times close; then it writes.
class RowWriter {
 public:
  RowWriter(SectionRows kind, const TickRate& rate, JsonLine* line, std::size_t* rows, std::uint64_t* dropped)
      : kind_(kind), rate_(rate), line_(line), rows_(rows), dropped_(dropped), bytes_(line->size()) {}

  void Decide(SectionNode* node, std::size_t path_bytes) {
    std::int64_t* const children_ns = &RowOf(node)->children_ns;
    *children_ns = 0;
    ForEachChild(node, [&](SectionNode* child) {
      SectionRow* const row = RowOf(child);
      const std::uint64_t ticks = child->total_ticks.load(kRelaxed);
      const std::size_t child_path_bytes = path_bytes + 1 + kWorstEscape * child->name_length;
      row->total_ns = rate_.Nanoseconds(ticks);
      row->is_written = false;
      // A helper's starting path, itself not measured.
      if (child->count.load(kRelaxed) == 0 && ticks == 0) return Decide(child, child_path_bytes);
      if (*rows_ >= kMaxPaths || bytes_ + child_path_bytes + kRowBytes > kMaxLineBytes / 2) {
        Drop(child);
        if (kind_ != SectionRows::kOwner) *children_ns += row->total_ns;
        return;
      }
      row->is_written = true;
      row->index = static_cast<std::uint32_t>((*rows_)++);
      bytes_ += child_path_bytes + kRowBytes;
      if (kind_ == SectionRows::kOwner) *children_ns += row->total_ns;
      Decide(child, child_path_bytes);
    });
  }

  void WriteRow(const SectionNode* node) {
    const SectionRow& row = *RowOf(node);
    const std::uint64_t count = node->count.load(kRelaxed);
    if (!line_->EndsWith('[')) line_->Raw(",");
    line_->Raw("{\"path\":\"");
    AppendPath(node, line_);
    line_->Raw("\"");
    if (kind_ == SectionRows::kHelper) line_->Raw(",\"helper\":true");
    line_->FieldUnsigned("count", count);
    line_->Field("total_ns", row.total_ns);
    // A merged tree keeps its self time; what found no row inside adds to it.
    line_->Field("self_ns", kind_ == SectionRows::kOwner ? row.total_ns - row.children_ns
                                                         : rate_.Nanoseconds(node->self_ticks) + row.children_ns);
    if (count == 0) {
      line_->Raw(",\"min_ns\":null,\"max_ns\":null");
    } else {
      line_->Field("min_ns", rate_.Nanoseconds(node->min_ticks.load(kRelaxed)));
      line_->Field("max_ns", rate_.Nanoseconds(node->max_ticks.load(kRelaxed)));
    }
    const std::int64_t cpu_ns = node->cpu_ns.load(kRelaxed);
    // Both readings lie inside the wall time, but are of another clock.
    if (cpu_ns >= 0) line_->Field("cpu_ns", std::min(cpu_ns, row.total_ns));
    if (const std::uint64_t failed = node->failed.load(kRelaxed); failed != 0) line_->FieldUnsigned("failed", failed);
    line_->Raw("}");
  }

 private:
  static constexpr std::size_t kWorstEscape = 6;  // \u0000
  static constexpr std::size_t kRowBytes = 240;   // keys, and numbers at their longest

  void Drop(SectionNode* node) {
    *dropped_ += OccurrencesFrom(node);
    ForEachDescendant(node, [](SectionNode* below) { RowOf(below)->is_written = false; });
  }

  const SectionRows kind_;
  const TickRate& rate_;
  JsonLine* line_;
  std::size_t* rows_;
  std::uint64_t* dropped_;
  std::size_t bytes_;
};

template <class Function>
void ForEachRow(const SectionNode* node, Function function) {
  ForEachDescendant(node, [&](const SectionNode* below) {
    if (RowOf(below)->is_written) function(below);
  });
}

bool HasName(const SectionNode* node) { return node->parent != nullptr; }

/// The longest path with its NUL, with every byte of a name escaped.
std::size_t MostPathBytes(const SectionNode* node) {
  std::size_t bytes = 1;
  for (; HasName(node); node = node->parent) bytes += 3 * std::size_t{node->name_length} + 1;
  return bytes;
}

/// Appends the path without a NUL; a `/` inside a name is `%2F`, as in the record.
char* AppendPlainPath(const SectionNode* node, char* text) {
  if (!HasName(node)) return text;
  if (HasName(node->parent)) {
    text = AppendPlainPath(node->parent, text);
    *text++ = '/';
  }
  for (const char c : std::string_view(node->name(), node->name_length)) {
    if (c == '/') {
      std::memcpy(text, "%2F", 3);
      text += 3;
    } else {
      *text++ = c;
    }
  }
  return text;
}

/// What `visit` gets, apart from the chunk: it may begin the next one meanwhile.
class FinishedSections {
 public:
  explicit FinishedSections(const FinishedChunk& chunk) {
    const SectionNode* own = chunk.state->data.sections().root();
    const SectionNode* helpers = chunk.state->helpers.sections().root();
    std::size_t rows = 1;
    std::size_t bytes = 1;
    for (const SectionNode* root : {own, helpers}) {
      ForEachRow(root, [&](const SectionNode* node) {
        ++rows;
        bytes += MostPathBytes(node);
      });
    }
    const SdkAllocationScope scope;
    rows_ = MakeOwnArray<FinishedSection>(rows);
    text_ = MakeOwnArray<char>(bytes);
    if (rows_ == nullptr || text_ == nullptr) return;
    end_ = text_.get();
    Add(own, {"", false, 1, chunk.duration_ns, chunk.duration_ns - RowOf(own)->children_ns});
    ForEachRow(own, [this](const SectionNode* node) {
      Add(node,
          {"", false, node->count.load(), RowOf(node)->total_ns, RowOf(node)->total_ns - RowOf(node)->children_ns});
    });
    ForEachRow(helpers, [&](const SectionNode* node) {
      Add(node, {"", true, node->count.load(), RowOf(node)->total_ns,
                 chunk.rate.Nanoseconds(node->self_ticks) + RowOf(node)->children_ns});
    });
  }

  std::size_t Visit(SectionVisitor visit, void* context) const {
    for (std::size_t i = 0; i < size_; ++i) visit(context, rows_[i]);
    return size_;
  }

 private:
  void Add(const SectionNode* node, FinishedSection row) {
    row.path = end_;
    end_ = AppendPlainPath(node, end_);
    *end_++ = '\0';
    rows_[size_++] = row;
  }

  OwnArray<FinishedSection> rows_;
  OwnArray<char> text_;
  char* end_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

void AddOpenOccurrence(SectionNode* node, std::uint64_t now_ticks) noexcept {
  node->guard_ticks = 0;
  AddOccurrence(node, now_ticks - node->start_ticks.load(std::memory_order_relaxed));
}

void AddCpu(SectionNode* node, std::int64_t cpu_ns) noexcept {
  const std::int64_t before_ns = node->cpu_ns.load(kRelaxed);
  const bool is_known = cpu_ns != kUnknownCpu && before_ns != kUnknownCpu;
  node->cpu_ns.store(is_known ? std::max<std::int64_t>(before_ns, 0) + cpu_ns : kUnknownCpu, kRelaxed);
}

SectionTree::SectionTree() noexcept {
  root()->first_expected = &g_nobody;
  root()->cursor = &root()->first_expected;
}

SectionNode* SectionTree::FindOrAdd(SectionNode* parent, std::string_view name) noexcept {
  if (SectionNode* node = parent->is_unkept ? nullptr : FindOrAddKept(parent, name); node != nullptr) return node;
  AddTo(&dropped_, 1);
  if (parent->is_unkept) return nullptr;
  if (parent->unkept_child != nullptr) return parent->unkept_child;
  SectionNode* const node = NewNode(parent, {});
  if (node != nullptr) node->is_unkept = true;
  return parent->unkept_child = node;
}

SectionNode* SectionTree::FindOrAddKept(SectionNode* parent, std::string_view name) noexcept {
  name = CutOnCodePoint(name, kMaxNameBytes);
  const std::uint32_t hash = Hash(parent, name);
  SectionNode** bucket = &buckets_[hash % kBuckets];
  for (SectionNode* node = *bucket; node != nullptr; node = node->next_in_bucket) {
    if (node->hash == hash && node->parent == parent && std::string_view(node->name(), node->name_length) == name) {
      *parent->cursor = node;
      return node;
    }
  }
  // A chunk may use kMaxPaths; up to kKeptPaths more may be left from the chunk before.
  const bool too_many = parent->depth >= kMaxDepth || size_ >= kMaxPaths + kKeptPaths;
  SectionNode* const node = too_many ? nullptr : NewNode(parent, name);
  if (node == nullptr) return nullptr;
  node->hash = hash;
  node->next_in_bucket = *bucket;
  *bucket = node;
  (parent->last_child == nullptr ? parent->first_child : parent->last_child->next_sibling)
      .store(node, std::memory_order_release);
  parent->last_child = node;
  *parent->cursor = node;
  ++size_;
  return node;
}

SectionNode* SectionTree::NewNode(SectionNode* parent, std::string_view name) noexcept {
  void* memory = arena_.Allocate(sizeof(NodeWithRow) + name.size());
  if (memory == nullptr) return nullptr;
  if (!name.empty()) std::memcpy(static_cast<char*>(memory) + sizeof(NodeWithRow), name.data(), name.size());
  SectionNode* const node = &(new (memory) NodeWithRow())->node;
  node->name_length = static_cast<std::uint32_t>(name.size());
  node->plain_name = IsPlain(name);
  node->parent = parent;
  node->depth = parent->depth + 1;
  node->first_expected = node->next_expected = &g_nobody;
  node->cursor = &node->first_expected;
  return node;
}

SectionNode* SectionTree::Counterpart(const SectionNode* node, const SectionNode* at) noexcept {
  if (node == nullptr || node->parent == nullptr) return at == nullptr ? root() : Counterpart(at, nullptr);
  SectionNode* parent = node->is_unkept ? nullptr : Counterpart(node->parent, at);
  return parent == nullptr ? nullptr : FindOrAddKept(parent, std::string_view(node->name(), node->name_length));
}

void SectionTree::Merge(SectionTree* other, const SectionNode* at, const ThreadState* running) noexcept {
  merged_ = true;
  if (other->root()->first_child.load(kRelaxed) == nullptr && other->dropped() == 0) return;
  SectionNode* to = Counterpart(at, nullptr);
  MergeChildren(MergeSource{other->merged_, running}, other->root(), to == nullptr ? root() : to);
  AddTo(&dropped_, other->dropped());
}

std::uint64_t SectionTree::MergeChildren(const MergeSource& source, const SectionNode* from, SectionNode* to) noexcept {
  std::uint64_t children_ticks = 0;
  ForEachChild(from, [&](const SectionNode* child) {
    const std::uint64_t count = child->count.load(kRelaxed);
    const bool is_measured = count != 0 || TicksSoFar(child, source.running) != 0;
    if (!is_measured && OccurrencesFrom(child) == 0) return;  // else: a helper's starting path
    SectionNode* node = FindOrAddKept(to, std::string_view(child->name(), child->name_length));
    if (node == nullptr) return AddTo(&dropped_, OccurrencesFrom(child));  // the time stays in the parent's self time
    // What is inside is read first: so it is never more than what it is in, while the thread runs on.
    const std::uint64_t below = MergeChildren(source, child, node);
    const std::uint64_t ticks = TicksSoFar(child, source.running);
    children_ticks += ticks;
    AddTo(&node->count, count);
    AddTo(&node->total_ticks, ticks);
    AddTo(&node->failed, child->failed.load(kRelaxed));
    const std::uint64_t least = child->min_ticks.load(kRelaxed);
    const std::uint64_t most = child->max_ticks.load(kRelaxed);
    if (least < node->min_ticks.load(kRelaxed)) node->min_ticks.store(least, kRelaxed);
    if (most > node->max_ticks.load(kRelaxed)) node->max_ticks.store(most, kRelaxed);
    if (const std::int64_t cpu_ns = child->cpu_ns.load(kRelaxed); cpu_ns != -1) AddCpu(node, cpu_ns);
    if (source.is_merged) {
      node->self_ticks += child->self_ticks;
    } else if (ticks > below) {
      node->self_ticks += ticks - below;
    }
  });
  return children_ticks;
}

void SectionTree::Reset() noexcept {
  std::size_t unused = 0;
  ForEachDescendant(root(), [&](SectionNode* node) {
    if (node->count.load(kRelaxed) == 0) ++unused;
    Forget(node);
  });
  mostly_unused_ = 2 * unused > size_ ? mostly_unused_ + 1 : 0;
  if (mostly_unused_ >= kPatience || (unused != 0 && size_ > kKeptPaths)) {
    mostly_unused_ = 0;
    std::memset(buckets_, 0, sizeof buckets_);
    arena_.Clear();
    size_ = 0;
    root()->first_child.store(nullptr, kRelaxed);
    root()->last_child = nullptr;
    root()->unkept_child = nullptr;
    root()->first_expected = &g_nobody;
  }
  root()->cursor = &root()->first_expected;
  root()->self_ticks = 0;
  merged_ = false;
  dropped_.store(0, kRelaxed);
}

std::uint64_t SectionTree::Occurrences() noexcept { return OccurrencesFrom(root()); }

void AppendSections(SectionNode* root, SectionRows kind, SectionNode* helpers, const TickRate& rate, JsonLine* line,
                    std::uint64_t* dropped) noexcept {
  std::size_t rows = 0;
  const auto append = [&](SectionNode* tree, SectionRows kind_of_tree) {
    RowWriter writer(kind_of_tree, rate, line, &rows, dropped);
    writer.Decide(tree, 0);
    ForEachRow(tree, [&](const SectionNode* node) { writer.WriteRow(node); });
  };
  line->Raw(",\"sections\":[");
  append(root, kind);
  if (helpers != nullptr) append(helpers, SectionRows::kHelper);
  line->Raw("]");
}

void AppendPath(const SectionNode* node, JsonLine* line) noexcept {
  if (node->parent == nullptr) return;
  if (node->parent->parent != nullptr) {
    AppendPath(node->parent, line);
    line->Raw("/");
  }
  const std::string_view name(node->name(), node->name_length);
  if (node->plain_name) {
    line->Raw(name);
  } else {
    line->StringPart(name, true);
  }
}

std::size_t VisitFinishedSections(SectionVisitor visit, void* context) noexcept {
  auto* thread = static_cast<ThreadState*>(t_context);
  const Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr || thread->finished.state == nullptr) return 0;
  if (thread->finished.state->recorder_pid != recorder->pid) return 0;  // a fork's copy: it is the parent's
  const ErrnoAndCancelGuard guard;
  const FinishedSections sections(thread->finished);
  thread->finished = {};
  return sections.Visit(visit, context);
}

}  // namespace crema::internal
