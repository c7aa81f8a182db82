#include "config/reference.h"

#include "config/network.h"
#include "config/tables.h"

namespace ares::config {
namespace {

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

template <class Record>
std::string describe(const std::vector<Field<Record>>& fields) {
  std::string out;
  const Record defaults{};
  for (const auto& row : fields) {
    const std::string value = row.required ? "" : row.print(defaults);
    out += ".TP\n.B " + row.name + "\n(" + escape(row.type) + ") " + escape(row.help);
    if (row.required) out += " Required.";
    if (!value.empty() && value != "\"\"" && value != "[]")
      out += " Default: " + escape(value) + ".";
    out += "\n";
  }
  return out;
}

std::string describe_section(const std::string& name) {
  if (name == "controller") return describe(controller_fields());
  if (name == "database") return describe(database_fields());
  if (name == "archive") return describe(archive_fields());
  if (name == "retention") return describe(retention_fields());
  if (name == "checkpoint")
    return describe(checkpoint_fields()) + ".PP\nKeys of s3:\n" + describe(checkpoint_s3_fields());
  if (name == "notify")
    return describe(notify_fields()) + ".PP\nKeys of smtp:\n" + describe(smtp_fields()) +
           ".PP\nKeys of an item of webhooks:\n" + describe(webhook_fields());
  if (name == "submit_hook") return describe(submit_hook_fields());
  if (name == "auth") return describe(auth_fields());
  if (name == "accounting") return describe(accounting_fields());
  if (name == "policy")
    return describe(policy_fields()) + ".PP\nKeys of preemption:\n" +
           describe(preemption_fields()) + ".PP\nKeys of expedite:\n" +
           describe(expedite_fields()) + ".PP\nKeys of launch_guard:\n" +
           describe(launch_guard_fields()) + ".PP\nKeys of an item of dynamic_nodes:\n" +
           describe(dynamic_node_fields());
  if (name == "nodes") return describe(node_fields());
  if (name == "partitions")
    return describe(partition_fields()) + ".PP\nKeys of placement:\n" +
           describe(placement_fields());
  if (name == "fairness")
    return describe(fairness_fields()) + ".PP\nKeys of weights:\n" + describe(weight_fields()) +
           ".PP\nKeys of an item of tree:\n" + describe(account_fields());
  if (name == "scheduler")
    return describe(scheduler_fields()) + ".PP\nKeys of an item of plugins:\n" +
           describe(plugin_fields());
  if (name == "node")
    return describe(node_daemon_fields()) + ".PP\nKeys of mock:\n" + describe(mock_fields()) +
           ".PP\nKeys of kubernetes:\n" + describe(kubernetes_fields()) +
           ".PP\nKeys of an item of kubernetes.grants:\n" + describe(kubernetes_grant_fields());
  return describe(log_fields());
}

}  // namespace

std::string reference_page() {
  std::string out =
      ".\\\" Generated from the tables of libcommon/config/tables.cc; edit those.\n"
      ".TH ARES.YAML 5 \"\" \"Ares " ARES_VERSION
      "\" \"File Formats\"\n"
      ".SH NAME\nares.yaml \\- configuration of an Ares cluster\n"
      ".SH DESCRIPTION\n"
      "One YAML file serves every program of a cluster. Programs look for it at\n.BR \\-\\-config "
      ",\nthen at\n.BR ARES_CONF ,\n"
      "then at\n.IR /etc/ares/ares.yaml .\n.PP\n"
      "An unknown key, a bad value or a contradiction is refused with file, line and what was "
      "probably meant; nothing is ignored. "
      "Check a file before it is used with\n.BR \"actl \\-\\-check=FILE\" .\n.PP\n"
      "Sizes are written as 4000M or 4G; host lists as n[1\\-4,7]. Controller and nodes must have "
      "the same nodes, partitions and "
      "policy.\n"
      ".SH TOP LEVEL\n" +
      describe(cluster_fields());
  for (const Section& section : sections()) {
    std::string title = section.name;
    for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    out += ".SH " + title + "\n" + escape(section.help) + "\n" + describe_section(section.name);
  }
  out +=
      ".SH TOPOLOGY FILE\nThe file that topology_file names has one key, topologies: a list of "
      "networks. Keys of each:\n" +
      describe(network_fields()) + ".PP\nKeys of an item of tree:\n" + describe(switch_fields()) +
      ".PP\nKeys of an item of block:\n" + describe(block_fields()) +
      ".PP\n.nf\n"
      "topologies:\n"
      "  \\- name: fabric\n"
      "    tree:\n"
      "      \\- {switch: leaf1, nodes: \"n[1\\-16]\"}\n"
      "      \\- {switch: leaf2, nodes: \"n[17\\-32]\"}\n"
      "      \\- {switch: spine, switches: \"leaf[1\\-2]\"}\n"
      "  \\- name: racks\n"
      "    block:\n"
      "      \\- {block: rack1, nodes: \"g[1\\-18]\"}\n"
      "  \\- name: cloud\n"
      "    tree_by: [topology.kubernetes.io/region, topology.kubernetes.io/zone, "
      "example.com/rack]\n"
      "  \\- {name: cliques, block_by: nvidia.com/gpu.clique}\n"
      ".fi\n";
  out +=
      ".SH EXAMPLE\n.nf\n"
      "cluster: demo\n"
      "controller: {listen: [\"unix:/run/ares/aresctld.sock\", \"tcp:head:7117\"], operators: "
      "[alice]}\n"
      "database: {host: /run/postgresql}\n"
      "nodes:\n"
      "  \\- {name: \"n[1\\-4]\", cpus: 64, memory: 256G, gpus: \"a100:4\", features: [fast]}\n"
      "partitions:\n"
      "  \\- {name: main, nodes: ALL, default: true, max_time: 2\\-0, default_memory_per_cpu: 2G}\n"
      "fairness:\n"
      "  policy: fair_tree\n"
      "  tree:\n"
      "    \\- {account: physics, shares: 40}\n"
      "    \\- {user: ann, account: physics, usage: {cpu: 360000}}\n"
      "    \\- {account: biology, shares: 60}\n"
      "    \\- {user: bob, account: biology}\n"
      ".fi\n.SH SEE ALSO\n.BR actl (1),\n.BR asub (1)\n";
  return out;
}

}  // namespace ares::config
