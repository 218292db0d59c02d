#include "collector/metrics/contents/section_order.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace crema {
namespace {

// As deep as the SDK nests; what a hostile path holds beyond is one name, so that the recursion below stays shallow.
constexpr int kMaxDepth = 64;

struct Node {
  std::map<std::string, Node, std::less<>> children;
  SectionRow* row = nullptr;

  double weight() const {
    if (row != nullptr) return *row->total;
    double sum = 0;
    for (const auto& [name, child] : children) sum += child.weight();
    return sum;
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
  std::stable_sort(children.begin(), children.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [weight, child] : children) MoveInOrder(*child, ordered);
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

}  // namespace crema
