#include "actl/networks.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "actl/command.h"
#include "actl/lines.h"
#include "base/hostlist.h"
#include "cli/output/json.h"
#include "config/config.h"
#include "model/cluster/network_by_features.h"

namespace ares::actl {
namespace {

// A switch or block with what is below it.
struct Domain {
  const NetworkDomain* own = nullptr;
  unsigned level = 0;  // of a leaf 0
  std::vector<std::string> nodes;
};

// config/ has checked that there are no cycles and that each switch below another one exists.
class DomainsOf {
 public:
  explicit DomainsOf(const NetworkSpec& network) {
    for (const NetworkDomain& domain : network.domains) by_name_[domain.name] = &domain;
  }

  Domain look(const NetworkDomain& domain) const {
    Domain out{&domain, 0, domain.nodes};
    for (const std::string& name : domain.switches) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) continue;
      const Domain below = look(*found->second);
      out.level = std::max(out.level, below.level + 1);
      out.nodes.insert(out.nodes.end(), below.nodes.begin(), below.nodes.end());
    }
    return out;
  }

 private:
  std::map<std::string, const NetworkDomain*> by_name_;
};

struct Shown {
  const NetworkSpec* network;
  std::vector<Domain> domains;
};

bool is_shown(const Domain& domain, const std::string& name, const std::set<std::string>& nodes) {
  if (name.empty() || domain.own->name == name) return true;
  return std::any_of(domain.nodes.begin(), domain.nodes.end(),
                     [&](const std::string& node) { return nodes.contains(node); });
}

bool is_any_named(std::span<const NetworkSpec> networks, const std::string& name) {
  return std::any_of(networks.begin(), networks.end(), [&](const NetworkSpec& network) {
    return std::any_of(network.domains.begin(), network.domains.end(),
                       [&](const NetworkDomain& domain) { return domain.name == name; });
  });
}

Result<std::vector<Shown>> select(std::span<const NetworkSpec> networks,
                                  const std::string& wanted) {
  std::set<std::string> nodes;
  // The name of a switch by features, such as a/r1, is no host list.
  if (const auto names = expand_hostlist(wanted))
    nodes.insert(names->begin(), names->end());
  else if (!is_any_named(networks, wanted))
    return fail(names.error());
  std::vector<Shown> all;
  bool any = wanted.empty();
  for (const NetworkSpec& network : networks) {
    const DomainsOf domains(network);
    Shown shown{&network, {}};
    for (const NetworkDomain& one : network.domains)
      if (Domain domain = domains.look(one); is_shown(domain, wanted, nodes))
        shown.domains.push_back(std::move(domain));
    any = any || !shown.domains.empty();
    if (!shown.domains.empty() || wanted.empty()) all.push_back(std::move(shown));
  }
  if (!any) return fail(ErrorCode::not_found, "no switch or block has " + quote(wanted));
  return all;
}

void put_text(const std::string& key, const std::string& value, std::string& out) {
  out += "\"" + key + "\": ";
  cli::put_json_text(value, out);
}

// On the machine where the controller runs the file is its own; elsewhere it is a copy.
Result<config::Config> load(const Context& context) {
  auto config = config::load(config::default_path(context.common.config));
  if (config) return config;
  return fail(config.error().code, config.error().message +
                                       "; show topology reads ares.yaml and its topology_file on "
                                       "this machine: call it where both are, or name them with "
                                       "--config");
}

// Asks the controller for its nodes if a network follows from their features.
Result<std::vector<NetworkSpec>> load_networks(Context& context) {
  const auto config = load(context);
  if (!config) return fail(config.error());
  const auto networks = config->policy.networks.all();
  api::Nodes nodes;
  if (std::any_of(networks.begin(), networks.end(),
                  [](const NetworkSpec& network) { return network.is_by_features(); })) {
    api::Request request;
    request.mutable_list_nodes();
    auto response = context.call_for_all(request);
    if (!response) return fail(response.error());
    nodes.Swap(response->mutable_nodes());
  }
  return networks_of_nodes(networks, nodes);
}

}  // namespace

std::vector<NetworkSpec> networks_of_nodes(std::span<const NetworkSpec> networks,
                                           const api::Nodes& nodes) {
  std::vector<std::vector<std::string>> features;
  std::vector<NetworkNode> known;
  features.reserve(static_cast<std::size_t>(nodes.nodes_size()));
  for (const api::Node& node : nodes.nodes()) {
    features.emplace_back(node.features().begin(), node.features().end());
    known.push_back({node.name(), features.back()});
  }
  std::vector<NetworkSpec> out;
  for (const NetworkSpec& network : networks)
    out.push_back(network.is_by_features() ? network_of_nodes(network, known) : network);
  return out;
}

Result<std::string> describe_networks(std::span<const NetworkSpec> networks,
                                      const std::string& wanted) {
  const auto all = select(networks, wanted);
  if (!all) return fail(all.error());
  std::string out;
  for (const Shown& shown : *all)
    for (const Domain& domain : shown.domains) {
      Lines lines;
      if (shown.network->kind == NetworkKind::block)
        lines.add("BlockName", domain.own->name);
      else
        lines.add("SwitchName", domain.own->name).count("Level", domain.level);
      lines.add("Nodes", or_null(compress_hostlist(domain.nodes)));
      if (!domain.own->switches.empty())
        lines.add("Switches", compress_hostlist(domain.own->switches));
      lines.add("Topology", shown.network->name);
      out += lines.text(true);
    }
  return out;
}

Result<std::string> networks_json(std::span<const NetworkSpec> networks,
                                  const std::string& wanted) {
  const auto all = select(networks, wanted);
  if (!all) return fail(all.error());
  std::string out = "{\n  \"topologies\": [";
  for (const Shown& shown : *all) {
    out += &shown == &all->front() ? "\n    {" : ",\n    {";
    put_text("name", shown.network->name, out);
    out += ", ";
    put_text("kind", shown.network->kind == NetworkKind::block ? "block" : "tree", out);
    out += ", \"domains\": [";
    for (const Domain& domain : shown.domains) {
      out += &domain == &shown.domains.front() ? "\n      {" : ",\n      {";
      put_text("name", domain.own->name, out);
      out += ", \"level\": " + std::to_string(domain.level) + ", ";
      put_text("nodes", compress_hostlist(domain.nodes), out);
      out += ", ";
      put_text("switches", compress_hostlist(domain.own->switches), out);
      out += "}";
    }
    out += "]}";
  }
  return out + "]\n}\n";
}

Result<int> show_networks(Context& context, const Words& operands) {
  const auto loaded = load_networks(context);
  if (!loaded) return fail(loaded.error());
  const std::vector<NetworkSpec>& networks = *loaded;
  const std::string wanted = cli::join(operands, ",");
  if (networks.empty() && !context.flags.document) {
    if (!wanted.empty())
      return fail(ErrorCode::not_found,
                  "ares.yaml names no topology_file: no network is described");
    if (!context.flags.quiet)
      std::puts("No networks are described: ares.yaml names no topology_file");
    return 0;
  }
  const auto text = context.flags.document ? networks_json(networks, wanted)
                                           : describe_networks(networks, wanted);
  if (!text) return fail(text.error());
  if (text->empty() && !context.flags.quiet)
    std::puts("No node has the features by which the topologies place nodes");
  if (context.flags.document)
    cli::print_document(context.flags.document, *text);
  else
    std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace ares::actl
