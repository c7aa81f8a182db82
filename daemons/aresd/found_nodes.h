// Nodes that the exec plugin finds, as this aresd serves them. The configuration need not name them: they join by a rule of
// policy.dynamic_nodes.
#pragma once

#include "aresd/chosen_plugin.h"
#include "aresd/node_host.h"
#include "config/config.h"

namespace ares::aresd {

// Makes a node of what the plugin tells of it, for NodeHost::on_found(). All but `send` outlive the host.
// `join`: the controller need not know them.
NodeHost::MakeNode make_found_node(NodeHost& host, const config::Config& config,
                                   const Plugin& plugin, bool join, HostedNode::Send send);

}  // namespace ares::aresd
