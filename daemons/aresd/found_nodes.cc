#include "aresd/found_nodes.h"

#include <spdlog/spdlog.h>

#include "os/clock.h"

namespace ares::aresd {
namespace {

// Instead of the UUID of a spool: such a node has none on disk.
constexpr const char* kNoSpool = "found";

}  // namespace

NodeHost::MakeNode make_found_node(NodeHost& host, const config::Config& config,
                                   const Plugin& plugin, bool join, HostedNode::Send send) {
  return [&host, &config, &plugin, join, send = std::move(send)](
             const exec::FoundNode& found) -> Result<std::unique_ptr<HostedNode>> {
    HostedNodeSetup setup;
    setup.agent = {.name = found.name,
                   .inventory = found.inventory,
                   .can_freeze = plugin.can_freeze,
                   .version = ARES_VERSION,
                   .boot_id = found.identity,
                   .fresh_uuid = kNoSpool,
                   .enforced = plugin.enforced,
                   .joins = join,
                   .allocation_timeout = config.node.allocation_timeout,
                   .slurm_variables = config.node.slurm_variables};
    setup.incarnation = found.incarnation;
    auto node = HostedNode::open(std::move(setup), host.plugin(), send, log_of(found.name),
                                 {os::wall_now(), os::boot_now()});
    if (node)
      spdlog::info("{}: found by {}", found.name, plugin.table->name);
    else
      spdlog::error("{}: cannot be served: {}", found.name, node.error().message);
    return node;
  };
}

}  // namespace ares::aresd
