#include "crema/internal/finished_sections.h"

#include <cstring>
#include <string_view>

#include "chunk/thread_state.h"
#include "process/process_recorder.h"
#include "storage/own_memory.h"
#include "storage/sdk_allocation_scope.h"

namespace crema {
namespace internal {
namespace {

template <class Function>
void ForEachRow(const SectionNode* node, Function function) {
  for (const SectionNode* child = node->first_child.load(); child != nullptr; child = child->next_sibling.load()) {
    if (RowOf(child)->is_written) function(child);
    ForEachRow(child, function);
  }
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

}  // namespace internal
}  // namespace crema
