#include "config/network.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hostlist.h"
#include "base/printable.h"
#include "config/types.h"

namespace ares::config {
namespace {

// A line of a few bytes may list 100,000 names.
constexpr std::size_t kMostNames = 1'000'000;

std::size_t count_names(const NetworkSpec& network) {
  std::size_t count = 0;
  for (const NetworkDomain& domain : network.domains)
    count += domain.nodes.size() + domain.switches.size();
  return count;
}

tl::unexpected<Problem> too_many_names(int line) {
  return problem(line, "more than " + std::to_string(kMostNames) + " names of nodes and switches");
}

// A list that is not printed if it is empty.
Type<std::vector<std::string>> names_type() {
  const auto type = host_list_type();
  return {type.name, type.parse, [type](const std::vector<std::string>& names) {
            return names.empty() ? std::string() : type.print(names);
          }};
}

bool has_form(const NetworkSpec& network) {
  return !network.domains.empty() || network.is_by_features();
}

tl::unexpected<Problem> second_form(int line) {
  return problem(line,
                 "a topology is either a tree or of blocks, not both; and it either lists them or "
                 "takes them from features");
}

// Names of features, one for each level.
constexpr std::size_t kMostLevels = 16;

CheckResult check_features(const std::vector<std::string>& names, int line) {
  if (names.empty()) return problem(line, "expected the name of a feature");
  if (names.size() > kMostLevels)
    return problem(line, "more than " + std::to_string(kMostLevels) + " levels");
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (name->empty() || name->find('=') != std::string::npos)
      return problem(line, quote(*name) +
                               " is not the name of a feature NAME=VALUE: write what stands before "
                               "the \"=\"");
    if (std::find(names.begin(), name, *name) != name)
      return problem(line, "feature " + quote(*name) + " is named twice");
  }
  return {};
}

Field<NetworkSpec> tree_by_field() {
  const auto list = text_list_type();
  Field<NetworkSpec> row;
  row.name = "tree_by";
  row.type = list.name;
  row.help =
      "In place of tree: names of features NAME=VALUE of nodes, such as labels of Kubernetes, from "
      "the top level to that of the leaf switches. Nodes whose values are the same are under one "
      "switch. A node without one of these features is under none.";
  row.read = [list](NetworkSpec& network, const Value& value) -> CheckResult {
    if (has_form(network)) return second_form(value.line);
    auto names = list.parse(value);
    if (!names) return problem(value.line, names.error().message);
    network.kind = NetworkKind::tree;
    network.by_features = *std::move(names);
    return check_features(network.by_features, value.line);
  };
  row.print = [list](const NetworkSpec& network) {
    return network.kind == NetworkKind::tree && network.is_by_features()
               ? list.print(network.by_features)
               : std::string();
  };
  return row;
}

Field<NetworkSpec> block_by_field() {
  const auto text = text_type();
  Field<NetworkSpec> row;
  row.name = "block_by";
  row.type = text.name;
  row.help =
      "In place of block: the name of a feature NAME=VALUE of nodes. Nodes with the same value are "
      "a block. A node without it is in none.";
  row.read = [text](NetworkSpec& network, const Value& value) -> CheckResult {
    if (has_form(network)) return second_form(value.line);
    auto name = text.parse(value);
    if (!name) return problem(value.line, name.error().message);
    network.kind = NetworkKind::block;
    network.by_features = {*std::move(name)};
    return check_features(network.by_features, value.line);
  };
  row.print = [text](const NetworkSpec& network) {
    return network.kind == NetworkKind::block && network.is_by_features()
               ? text.print(network.by_features.front())
               : std::string();
  };
  return row;
}

// The lines of `tree` or `block`; the key determines the kind of network.
Field<NetworkSpec> domains_field(NetworkKind kind, const char* name, std::string help,
                                 std::vector<Field<NetworkDomain>> fields) {
  Field<NetworkSpec> row;
  row.name = name;
  row.type = "list";
  row.help = std::move(help);
  row.read = [kind, fields](NetworkSpec& network, const Value& list) -> CheckResult {
    if (has_form(network)) return second_form(list.line);
    if (list.kind != Value::Kind::list || list.items.empty())
      return problem(list.line, "expected a list; begin each item with \"- \"");
    network.kind = kind;
    std::size_t names = 0;
    for (const Value& item : list.items) {
      if (item.kind != Value::Kind::map) return problem(item.line, "expected {name: ..., ...}");
      CheckResult done = read_map(item, network.domains.emplace_back(), fields);
      if (!done) return done;
      names += network.domains.back().nodes.size() + network.domains.back().switches.size();
      if (names > kMostNames) return too_many_names(item.line);
    }
    return {};
  };
  row.print = [kind, fields](const NetworkSpec& network) -> std::string {
    if (network.kind != kind || network.domains.empty()) return {};
    std::string out;
    for (const NetworkDomain& domain : network.domains)
      out += (out.empty() ? "" : ", ") + print_flow(domain, fields);
    return "[" + out + "]";
  };
  return row;
}

// Lines of the items in the file, for messages: the records do not contain them.
struct Lines {
  int network = 0;
  std::vector<int> domains;
};

Lines lines_of(const Value& item) {
  Lines lines{item.line, {}};
  for (const Entry& entry : item.entries)
    for (const Value& domain : entry.value.items) lines.domains.push_back(domain.line);
  return lines;
}

// Names and memberships of one network. `kind_name` is what messages call a domain.
class Check {
 public:
  Check(const NetworkSpec& network, const Lines& lines, std::span<const std::string> known)
      : network_(network), lines_(lines), known_(known), sorted_(known.begin(), known.end()) {}

  CheckResult run() {
    for (std::size_t i = 0; i < network_.domains.size(); ++i) {
      names_.push_back(network_.domains[i].name);
      if (!places_.emplace(names_.back(), i).second)
        return problem(lines_.domains[i], what(i) + " is described a second time");
    }
    for (std::size_t i = 0; i < network_.domains.size(); ++i) {
      if (CheckResult done = check_nodes(i); !done) return done;
      if (CheckResult done = check_switches(i); !done) return done;
    }
    return check_cycles();
  }

 private:
  std::string what(std::size_t i) const {
    return (network_.kind == NetworkKind::tree ? "switch \"" : "block \"") +
           network_.domains[i].name + "\"";
  }

  CheckResult check_nodes(std::size_t i) {
    const NetworkDomain& domain = network_.domains[i];
    const int line = lines_.domains[i];
    if (domain.nodes.empty() == domain.switches.empty())
      return problem(line,
                     what(i) + (domain.nodes.empty() ? " connects nothing"
                                                     : " has both nodes and switches; put the "
                                                       "nodes under a switch of their own"));
    for (const std::string& node : domain.nodes) {
      if (!sorted_.contains(node))
        return problem(
            line, what(i) + " names the unknown node " + quote(node) + suggestion(node, known_));
      const auto [place, added] = leaf_of_.emplace(node, i);
      if (!added)
        return problem(line, what(i) + " names node " + quote(node) + ", which is in " +
                                 (place->second == i ? "it twice" : what(place->second) + " too"));
    }
    return {};
  }

  CheckResult check_switches(std::size_t i) {
    const int line = lines_.domains[i];
    for (const std::string& name : network_.domains[i].switches) {
      const auto found = places_.find(name);
      if (found == places_.end())
        return problem(
            line, what(i) + " names the unknown switch " + quote(name) + suggestion(name, names_));
      const auto [place, added] = above_.emplace(found->second, i);
      if (!added)
        return problem(line, what(i) + " names switch " + quote(name) + ", which is below " +
                                 (place->second == i ? "it twice" : what(place->second) + " too"));
    }
    return {};
  }

  // Every switch has at most one above it, so a path upward that does not end is a cycle.
  CheckResult check_cycles() const {
    for (std::size_t i = 0; i < network_.domains.size(); ++i) {
      std::size_t steps = 0;
      for (auto at = above_.find(i); at != above_.end(); at = above_.find(at->second))
        if (++steps > network_.domains.size())
          return problem(lines_.domains[i], what(i) + " is below itself");
    }
    return {};
  }

  const NetworkSpec& network_;
  const Lines& lines_;
  std::span<const std::string> known_;
  std::set<std::string> sorted_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::size_t> leaf_of_;
  std::map<std::size_t, std::size_t> above_;
};

CheckResult read_items(const Value& list, std::span<const std::string> known,
                       std::vector<NetworkSpec>& networks) {
  if (list.kind != Value::Kind::list || list.items.empty())
    return problem(list.line, "topologies: expected a list; begin each item with \"- \"");
  std::size_t names = 0;
  for (const Value& item : list.items) {
    NetworkSpec network;
    if (item.kind != Value::Kind::map) return problem(item.line, "expected {name: ..., ...}");
    if (CheckResult done = read_map(item, network, network_fields()); !done) return done;
    const std::string which = "topology " + quote(network.name);
    if (!has_form(network))
      return problem(item.line, which +
                                    " has neither \"tree\" nor \"block\", nor \"tree_by\" or "
                                    "\"block_by\"");
    if (std::any_of(networks.begin(), networks.end(),
                    [&](const NetworkSpec& other) { return other.name == network.name; }))
      return problem(item.line, which + " is described a second time");
    names += count_names(network);
    if (names > kMostNames) return too_many_names(item.line);
    const Lines lines = lines_of(item);
    if (CheckResult done = Check(network, lines, known).run(); !done)
      return problem(done.error().line, which + ": " + done.error().message);
    networks.push_back(std::move(network));
  }
  return {};
}

CheckResult read_root(const Value& root, std::span<const std::string> known,
                      std::vector<NetworkSpec>& networks) {
  if (root.kind != Value::Kind::map)
    return problem(1, "this describes no topologies; expected \"topologies:\" and a list");
  for (const Entry& entry : root.entries) {
    if (entry.key != "topologies")
      return problem(entry.line, "unknown key " + quote(entry.key) +
                                     suggestion(entry.key, std::vector<std::string>{"topologies"}));
    if (CheckResult done = read_items(entry.value, known, networks); !done) return done;
  }
  return {};
}

}  // namespace

std::vector<Field<NetworkSpec>> network_fields() {
  return {
      required(field<NetworkSpec>("name", &NetworkSpec::name, name_type(),
                                  "What partitions call it in their key topology.")),
      domains_field(NetworkKind::tree, "tree",
                    "Switches: a leaf has nodes, any other has switches below it.",
                    switch_fields()),
      domains_field(NetworkKind::block, "block",
                    "Blocks of nodes that a fabric of their own connects, as in an NVL72 rack; "
                    "instead of a tree.",
                    block_fields()),
      tree_by_field(),
      block_by_field(),
  };
}

std::vector<Field<NetworkDomain>> switch_fields() {
  return {
      required(field<NetworkDomain>("switch", &NetworkDomain::name, name_type(), "Its name.")),
      field<NetworkDomain>("nodes", &NetworkDomain::nodes, names_type(), "Nodes of a leaf switch."),
      field<NetworkDomain>("switches", &NetworkDomain::switches, names_type(),
                           "Switches below it: leaf[1-4]."),
  };
}

std::vector<Field<NetworkDomain>> block_fields() {
  return {
      required(field<NetworkDomain>("block", &NetworkDomain::name, name_type(), "Its name.")),
      required(field<NetworkDomain>("nodes", &NetworkDomain::nodes, names_type(), "Its nodes.")),
  };
}

std::string print_network(const NetworkSpec& network) {
  return print_flow(network, network_fields());
}

Result<std::vector<NetworkSpec>> read_networks(const std::string& text, const std::string& path,
                                               std::span<const std::string> known_nodes) {
  const Result<Value> root = parse_yaml(text, path);
  if (!root) return fail(root.error());
  std::vector<NetworkSpec> networks;
  if (CheckResult done = read_root(*root, known_nodes, networks); !done)
    return fail(ErrorCode::invalid_argument,
                path + ":" + std::to_string(done.error().line) + ": " + done.error().message);
  return networks;
}

}  // namespace ares::config
