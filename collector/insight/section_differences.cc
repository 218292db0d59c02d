#include "collector/insight/section_differences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct Node {
  double self_before = 0, self_after = 0;
  double before = 0, after = 0;  // with all that is inside
  std::map<std::string, Node> inside;
};

Node* FindNode(const std::string& path, Node* root) {
  Node* node = root;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t slash = std::min(path.find('/', begin), path.size());
    node = &node->inside[path.substr(begin, slash - begin)];
    begin = slash + 1;
  }
  return node;
}

void AddSelfTimes(const std::vector<const Measurement*>& documents, double Node::*self, Node* root) {
  for (const Measurement* measurement : documents) {
    for (const SectionRow& row : measurement->sections) {
      if (row.helper.value_or(false)) continue;
      FindNode(row.path.str(), root)->*self += row.self.value_or(0) / static_cast<double>(documents.size());
    }
  }
}

void AddUp(Node* node) {
  node->before = node->self_before;
  node->after = node->self_after;
  for (auto& [name, child] : node->inside) {
    AddUp(&child);
    node->before += child.before;
    node->after += child.after;
  }
}

void AddRows(const Node& node, const std::string& path, int depth, std::vector<SectionDifference>* rows) {
  std::vector<const std::pair<const std::string, Node>*> children;
  for (const auto& child : node.inside) children.push_back(&child);
  std::stable_sort(children.begin(), children.end(), [](const auto* a, const auto* b) {
    return std::fabs(a->second.after - a->second.before) > std::fabs(b->second.after - b->second.before);
  });
  for (const auto* child : children) {
    const std::string of_child = path.empty() ? child->first : path + "/" + child->first;
    const Node& below = child->second;
    rows->push_back({of_child, depth, below.before, below.after, below.self_after - below.self_before});
    AddRows(below, of_child, depth + 1, rows);
  }
}

}  // namespace

std::vector<SectionDifference> CompareSectionTrees(const std::vector<const Measurement*>& before,
                                                   const std::vector<const Measurement*>& after) {
  Node root;
  AddSelfTimes(before, &Node::self_before, &root);
  AddSelfTimes(after, &Node::self_after, &root);
  AddUp(&root);
  std::vector<SectionDifference> rows;
  AddRows(root, "", 0, &rows);
  return rows;
}

Json SectionDifferencesAsJson(const std::vector<SectionDifference>& tree) {
  Json rows = Json::array();
  for (const SectionDifference& section : tree) {
    rows.push_back({{"path", section.path},
                    {"depth", section.depth},
                    {"before", section.before},
                    {"after", section.after},
                    {"difference", section.difference()},
                    {"self_difference", section.self_difference}});
  }
  return rows;
}

}  // namespace crema
