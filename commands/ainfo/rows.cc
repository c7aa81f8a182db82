#include "ainfo/rows.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "cli/output/text.h"

namespace ares::ainfo {
namespace {

// In the order of a partition's lines.
struct StateName {
  const char* state;
  const char* brief;
};
constexpr std::array<StateName, 13> kStates = {{{"MIXED", "mix"},
                                                {"ALLOCATED", "alloc"},
                                                {"COMPLETING", "comp"},
                                                {"IDLE", "idle"},
                                                {"RESERVED", "resv"},
                                                {"MAINT", "maint"},
                                                {"REBOOT_ISSUED", "boot"},
                                                {"FAILING", "failg"},
                                                {"FAIL", "fail"},
                                                {"DRAINING", "drng"},
                                                {"DRAINED", "drain"},
                                                {"DOWN", "down"},
                                                {"UNKNOWN", "unk"}}};

const char* mark_of(const api::Node& node) {
  if (is_silent(node)) return "*";
  if (node.reboot() == "ISSUED") return "^";
  if (!node.reboot().empty()) return "@";
  return node.planned() ? "-" : "";
}

// Lines under construction. Finds a node's line by the columns that distinguish nodes.
class Lines {
 public:
  Lines(const std::vector<const cli::Column<Row>*>& shown, const Grouping& grouping,
        const Answer& answer)
      : grouping_(grouping), cluster_(&answer.nodes.cluster()), reserved_(&answer.reserved) {
    for (const auto* column : shown)
      if (column->fold == kTells || column->fold == kOfPartition ||
          (grouping.exact && column->fold == kLeast))
        distinguishing_.push_back(column);
  }

  void add(const api::Partition* partition, const api::Node* node) {
    Row alone{partition, {node}, cluster_, reserved_};
    if (!grouping_.each_node) {
      std::string key;
      for (const auto* column : distinguishing_) {
        column->put(alone, key);
        key += '\0';
      }
      const auto [found, added] = places_.try_emplace(std::move(key), rows_.size());
      if (!added) {
        rows_[found->second].nodes.push_back(node);
        return;
      }
    }
    rows_.push_back(std::move(alone));
  }

  void add_empty(const api::Partition* partition) {
    rows_.push_back({partition, {}, cluster_, reserved_});
  }

  // Partitions have separate lines if the format shows anything of them.
  void end_partition() {
    places_.clear();
    std::stable_sort(rows_.begin() + static_cast<std::ptrdiff_t>(sorted_), rows_.end(),
                     [&](const Row& a, const Row& b) { return state_order(a) < state_order(b); });
    sorted_ = rows_.size();
  }

  std::size_t size() const { return rows_.size(); }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  const Grouping& grouping_;
  const std::string* cluster_;
  const ReservedNodes* reserved_;
  std::vector<const cli::Column<Row>*> distinguishing_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> places_;
  std::size_t sorted_ = 0;
};

const api::Partition* find(const api::Partitions& partitions, const std::string& name) {
  for (const api::Partition& partition : partitions.partitions())
    if (partition.name() == name) return &partition;
  return nullptr;
}

}  // namespace

std::string plain_state(const std::string& state) {
  return state.ends_with('*') ? state.substr(0, state.size() - 1) : state;
}

bool is_silent(const api::Node& node) {
  return node.state().ends_with('*');
}

std::int64_t state_order(const Row& row) {
  if (row.nodes.empty()) return -1;
  const std::string state = plain_state(row.nodes.front()->state());
  for (std::size_t i = 0; i < kStates.size(); ++i)
    if (state == kStates[i].state) return static_cast<std::int64_t>(i);
  return static_cast<std::int64_t>(kStates.size());
}

std::string short_state(const api::Node& node) {
  const std::string state = plain_state(node.state());
  for (const StateName& row : kStates)
    if (state == row.state) return std::string(row.brief) + mark_of(node);
  return cli::lower(state) + mark_of(node);
}

std::string long_state(const api::Node& node) {
  return cli::lower(plain_state(node.state())) + mark_of(node);
}

std::vector<Row> group(const std::vector<const cli::Column<Row>*>& shown, const Answer& answer,
                       const std::vector<const api::Node*>& nodes, const Grouping& grouping) {
  Lines lines(shown, grouping, answer);
  if (grouping.ignore_partitions) {
    for (const api::Node* node : nodes) lines.add(nullptr, node);
    return lines.take();
  }
  const bool of_partitions = std::any_of(
      shown.begin(), shown.end(), [](const auto* column) { return column->fold == kOfPartition; });
  if (!of_partitions) {
    for (const api::Node* node : nodes) {
      const auto& in = node->partitions();
      if (std::any_of(in.begin(), in.end(), [&](const std::string& name) {
            return find(answer.partitions, name) != nullptr;
          }))
        lines.add(nullptr, node);
    }
    if (lines.size() == 0 && grouping.keep_empty && !answer.partitions.partitions().empty())
      lines.add_empty(nullptr);
    if (!grouping.each_node) lines.end_partition();
    return lines.take();
  }
  if (grouping.each_node) {
    for (const api::Node* node : nodes)
      for (const std::string& name : node->partitions())
        if (const api::Partition* partition = find(answer.partitions, name))
          lines.add(partition, node);
    return lines.take();
  }
  for (const api::Partition& partition : answer.partitions.partitions()) {
    const std::size_t before = lines.size();
    for (const api::Node* node : nodes) {
      const auto& in = node->partitions();
      if (std::find(in.begin(), in.end(), partition.name()) != in.end())
        lines.add(&partition, node);
    }
    if (lines.size() == before && grouping.keep_empty) lines.add_empty(&partition);
    lines.end_partition();
  }
  return lines.take();
}

}  // namespace ares::ainfo
