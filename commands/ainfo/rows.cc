#include "ainfo/rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/text.h"

namespace ares::ainfo {
namespace {

// Columns that sum up or list the nodes of a line, and so do not tell lines apart.
constexpr std::string_view kSummed = "DNnACF";

struct StateName {
  const char* state;
  const char* brief;
  int order;
};
constexpr std::array<StateName, 7> kStates = {{{"MIXED", "mix", 1},
                                               {"ALLOCATED", "alloc", 2},
                                               {"IDLE", "idle", 3},
                                               {"DRAINING", "drng", 4},
                                               {"DRAINED", "drain", 5},
                                               {"DOWN", "down", 6},
                                               {"UNKNOWN", "unk", 7}}};

std::string plain(const std::string& state) {
  return state.ends_with('*') ? state.substr(0, state.size() - 1) : state;
}

int order_of(const std::string& state) {
  for (const StateName& row : kStates)
    if (plain(state) == row.state) return row.order;
  return 0;
}

const api::Node* first(const Row& row) {
  return row.nodes.empty() ? nullptr : row.nodes.front();
}

std::string of_first(const Row& row, const std::function<std::string(const api::Node&)>& text) {
  const api::Node* node = first(row);
  return node ? text(*node) : "n/a";
}

std::string of_partition(const Row& row,
                         const std::function<std::string(const api::Partition&)>& text) {
  if (row.partition) return text(*row.partition);
  return of_first(row, [](const api::Node& node) {
    return cli::join({node.partitions().begin(), node.partitions().end()}, ",");
  });
}

std::string limit_text(bool has, std::int64_t seconds) {
  return has ? format_duration_short(Seconds(seconds)) : "infinite";
}

bool usable(const api::Node& node) {
  const std::string state = plain(node.state());
  return state == "IDLE" || state == "MIXED" || state == "ALLOCATED";
}

std::string cpu_counts(const Row& row) {
  std::uint64_t allocated = 0, idle = 0, other = 0, total = 0;
  for (const api::Node* node : row.nodes) {
    const std::uint64_t free = node->cpus() - std::min(node->cpus(), node->cpus_allocated());
    allocated += node->cpus_allocated();
    (usable(*node) ? idle : other) += free;
    total += node->cpus();
  }
  return std::to_string(allocated) + "/" + std::to_string(idle) + "/" + std::to_string(other) +
         "/" + std::to_string(total);
}

std::string node_counts(const Row& row, bool all) {
  std::size_t allocated = 0, idle = 0, other = 0;
  for (const api::Node* node : row.nodes) {
    const std::string state = plain(node->state());
    if (state == "ALLOCATED" || state == "MIXED" || state == "DRAINING") {
      ++allocated;
    } else if (state == "IDLE" && !node->state().ends_with('*')) {
      ++idle;
    } else {
      ++other;
    }
  }
  const std::string brief = std::to_string(allocated) + "/" + std::to_string(idle);
  return all ? brief + "/" + std::to_string(other) + "/" + std::to_string(row.nodes.size()) : brief;
}

std::string gpu_text(const api::Node& node) {
  std::map<std::string, std::size_t> counts;
  for (const api::Gpu& gpu : node.gpus()) ++counts[gpu.type()];
  std::string out;
  for (const auto& [type, count] : counts)
    out += (out.empty() ? "" : ",") +
           ("gpu:" + (type == "gpu" ? "" : type + ":") + std::to_string(count));
  return out.empty() ? "(null)" : out;
}

std::string names(const Row& row) {
  std::vector<std::string> all;
  for (const api::Node* node : row.nodes) all.push_back(node->name());
  return compress_hostlist(all);
}

std::string or_none(const std::string& text) {
  return text.empty() ? "none" : cli::printable(text);
}

}  // namespace

std::string short_state(const std::string& state) {
  for (const StateName& row : kStates)
    if (plain(state) == row.state) return row.brief + std::string(state.ends_with('*') ? "*" : "");
  return cli::lower(state);
}

const std::vector<cli::Column<Row>>& columns() {
  using R = const Row&;
  using P = const api::Partition&;
  using N = const api::Node&;
  static const std::vector<cli::Column<Row>> all = {
      {'P', "PARTITION", "the partition; * marks the default",
       [](R r) {
         return of_partition(r, [](P p) { return p.name() + (p.is_default() ? "*" : ""); });
       },
       true},
      {'R', "PARTITION", "the partition",
       [](R r) { return of_partition(r, [](P p) { return p.name(); }); }, true},
      {'a', "AVAIL", "whether the partition is up",
       [](R r) { return r.partition ? std::string(r.partition->up() ? "up" : "down") : "n/a"; }},
      {'l', "TIMELIMIT", "the partition's longest time limit",
       [](R r) {
         return r.partition ? limit_text(r.partition->has_max_time(), r.partition->max_time())
                            : "n/a";
       }},
      {'L', "DEFAULTTIME", "its default time limit",
       [](R r) {
         return r.partition && r.partition->has_default_time()
                    ? limit_text(true, r.partition->default_time())
                    : "n/a";
       }},
      {'p', "PRIO_TIER", "its tier",
       [](R r) { return r.partition ? std::to_string(r.partition->tier()) : "n/a"; }},
      {'D', "NODES", "how many nodes", [](R r) { return std::to_string(r.nodes.size()); }},
      {'t', "STATE", "their state, in short; * marks nodes that do not answer",
       [](R r) { return of_first(r, [](N n) { return short_state(n.state()); }); }},
      {'T', "STATE", "their state",
       [](R r) { return of_first(r, [](N n) { return cli::lower(n.state()); }); }},
      {'N', "NODELIST", "their names", names, true},
      {'n', "HOSTNAMES", "their names", names, true},
      {'A', "NODES(A/I)", "nodes allocated and idle", [](R r) { return node_counts(r, false); }},
      {'F', "NODES(A/I/O/T)", "nodes allocated, idle, other and in total",
       [](R r) { return node_counts(r, true); }},
      {'C', "CPUS(A/I/O/T)", "CPUs allocated, idle, other and in total", cpu_counts},
      {'c', "CPUS", "CPUs of each node",
       [](R r) { return of_first(r, [](N n) { return std::to_string(n.cpus()); }); }},
      {'m', "MEMORY", "memory of each node in MiB",
       [](R r) { return of_first(r, [](N n) { return std::to_string(n.memory() >> 20); }); }},
      {'G', "GRES", "GPUs of each node", [](R r) { return of_first(r, gpu_text); }},
      {'f', "AVAIL_FEATURES", "features of each node",
       [](R r) {
         return of_first(r, [](N n) {
           return n.features().empty() ? "(null)"
                                       : cli::join({n.features().begin(), n.features().end()}, ",");
         });
       }},
      {'E', "REASON", "why the node is drained or down",
       [](R r) { return of_first(r, [](N n) { return or_none(n.reason()); }); }},
      {'u', "USER", "who said so",
       [](R r) {
         return of_first(r, [](N n) { return n.reason_by().empty() ? "Unknown" : n.reason_by(); });
       }},
      {'H', "TIMESTAMP", "when",
       [](R r) {
         return of_first(r, [](N n) {
           return n.reason_at() ? format_local_time(Time(Duration(n.reason_at()))) : "Unknown";
         });
       }},
      {'v', "VERSION", "release of its daemon",
       [](R r) {
         return of_first(r, [](N n) { return n.version().empty() ? "n/a" : n.version(); });
       }},
  };
  return all;
}

Result<std::vector<Row>> group(const std::string& format, const api::Partitions& partitions,
                               const std::vector<const api::Node*>& nodes,
                               const Grouping& grouping) {
  const auto pieces = cli::parse_format(format);
  if (!pieces) return fail(pieces.error());
  std::vector<const cli::Column<Row>*> telling;
  for (const cli::Piece& piece : *pieces)
    for (const auto& column : columns())
      if (piece.letter == column.letter && kSummed.find(piece.letter) == std::string_view::npos)
        telling.push_back(&column);

  std::vector<Row> rows;
  // `from` keeps partitions apart even where the format does not show them.
  const auto add = [&](const api::Partition* partition, std::size_t from, const api::Node* node) {
    Row alone{partition, {node}};
    if (!grouping.each_node)
      for (std::size_t i = from; i < rows.size(); ++i) {
        const bool alike = std::all_of(telling.begin(), telling.end(), [&](const auto* column) {
          return column->text(rows[i]) == column->text(alone);
        });
        if (!alike) continue;
        rows[i].nodes.push_back(node);
        return;
      }
    rows.push_back(std::move(alone));
  };

  if (grouping.ignore_partitions) {
    for (const api::Node* node : nodes) add(nullptr, 0, node);
    return rows;
  }
  for (const api::Partition& partition : partitions.partitions()) {
    const std::size_t from = rows.size();
    for (const api::Node* node : nodes)
      if (std::find(node->partitions().begin(), node->partitions().end(), partition.name()) !=
          node->partitions().end())
        add(&partition, from, node);
    if (rows.size() == from && grouping.keep_empty) rows.push_back({&partition, {}});
    std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(from), rows.end(),
                     [&](const Row& a, const Row& b) {
                       return !grouping.each_node && first(a) && first(b) &&
                              order_of(first(a)->state()) < order_of(first(b)->state());
                     });
  }
  return rows;
}

}  // namespace ares::ainfo
