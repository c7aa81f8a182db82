// Keys of `policy` about the life of nodes: the launch guard, and nodes that join.
#include <algorithm>
#include <set>

#include "base/hostlist.h"
#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

std::string print_names(const std::vector<std::string>& names) {
  return names.empty() ? "[]" : quote_yaml(compress_hostlist(names));
}

Type<std::vector<std::string>> names_type() {
  const auto names = host_list_type();
  return {names.name, names.parse, print_names};
}

Status check_rules(const std::vector<DynamicNodes>& rules) {
  const auto bad = [](const std::string& why) { return fail(ErrorCode::invalid_argument, why); };
  std::set<std::string> seen;
  for (const DynamicNodes& rule : rules) {
    if (rule.names.empty() == rule.prefix.empty() || rule.partitions.empty())
      return bad("a rule needs either names or a prefix, and at least one partition");
    for (const std::string& name : rule.names)
      if (!seen.insert(name).second) return bad("node " + quote(name) + " is in two rules");
    if (seen.size() > kMostDynamicNodes || rule.most > kMostDynamicNodes)
      return bad("at most " + std::to_string(kMostDynamicNodes) + " names may join");
  }
  return {};
}

}  // namespace

std::vector<Field<Expedite>> expedite_fields() {
  using E = Expedite;
  return {
      field<E>("most", &E::most, count_type(),
               "How often in a row a failed job returns first. A job whose script fails once more "
               "ends as FAILED; after one more failure of a node it is requeued like other jobs. "
               "0: never."),
      field<E>("long_run", &E::long_run, duration_type(),
               "An attempt that ran this long begins the count anew."),
      field<E>("keep", &E::keep, duration_type(),
               "How long, from its failure on, no other job starts on the healthy nodes of a job "
               "that returns first. It should exceed lease, which a lost node may delay the return "
               "by. 0: not at all."),
  };
}

std::vector<Field<LaunchGuard>> launch_guard_fields() {
  using G = LaunchGuard;
  return {
      field<G>("failures", &G::failures, count_type(),
               "Launches that fail by a node's fault within the window before the node is set "
               "aside: it is drained by the controller, and its jobs start elsewhere. 0: never."),
      field<G>("window", &G::window, duration_type(), "The time within which they count."),
      field<G>("retry_after", &G::retry_after, duration_type(),
               "Time until such a node is tried again with one job. It doubles each time that job "
               "cannot be launched either, up to a day. When the job starts the node is in service "
               "again. A restart of the machine, or actl resume, ends the time at once."),
  };
}

std::vector<Field<DynamicNodes>> dynamic_node_fields() {
  using D = DynamicNodes;
  return {
      field<D>("names", &D::names, names_type(), "A host list: cloud[001-200]."),
      field<D>("prefix", &D::prefix, text_type(),
               "In place of names: all names that begin with this text, such as those of the nodes "
               "of a Kubernetes cluster (ares-kubernetes(7))."),
      field<D>("features", &D::features, text_list_type(),
               "Features that such a node must have. The first rule with its name and its features "
               "is the one by which it joins. Default: none."),
      required(field<D>("partitions", &D::partitions, text_list_type(),
                        "The partitions that such a node joins.")),
      field<D>("most", &D::most, count_type(),
               "How many of them may have joined at a time. 0: all of the names; with a prefix, "
               "10000."),
  };
}

Type<std::vector<DynamicNodes>> dynamic_nodes_type() {
  return list_of_maps_type<DynamicNodes>(
      "list of rules", "{names: ..., partitions: ...} or {prefix: ..., partitions: ...}",
      dynamic_node_fields(), check_rules);
}

}  // namespace ares::config
