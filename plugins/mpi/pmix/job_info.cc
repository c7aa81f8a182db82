#include "mpi/pmix/job_info.h"

#include <cstdint>

namespace ares::mpi::pmix {
namespace {

std::string join(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (const std::uint32_t rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return text;
}

}  // namespace

std::string ranks_of_nodes(const pmi::TaskMap& map) {
  std::string text;
  for (const auto& ranks : map.ranks_by_node) text += (text.empty() ? "" : ";") + join(ranks);
  return text;
}

InfoList describe_server(const pmi::TaskMap& map, const std::vector<std::string>& hostnames,
                         const std::string& directory) {
  InfoList info;
  info.add_string("pmix.srvr.tmpdir", directory);
  info.add_string("pmix.sys.tmpdir", directory);
  info.add_string("pmix.hname", hostnames[map.this_node]);
  info.add_rank("pmix.srv.rank", map.this_node);
  // Only ranks of the step on this machine connect.
  info.add_boolean("pmix.srvr.tool", false);
  info.add_boolean("pmix.srvr.remote", false);
  return info;
}

InfoList describe_step(const pmi::TaskMap& map, const std::string& space,
                       const std::vector<std::string>& hostnames, const std::string& directory) {
  const auto& local = map.local_ranks();
  const auto local_size = static_cast<std::uint32_t>(local.size());
  std::string nodes;
  for (const std::string& name : hostnames) nodes += (nodes.empty() ? "" : ",") + name;

  InfoList info;
  info.add_string("pmix.jobid", space);
  info.add_string("pmix.tmpdir", directory);
  info.add_string("pmix.nsdir", directory);
  info.add_uint32("pmix.univ.size", map.size);
  info.add_uint32("pmix.job.size", map.size);
  info.add_uint32("pmix.max.size", map.size);
  info.add_uint32("pmix.job.napps", 1);
  info.add_uint32("pmix.app.size", map.size);
  info.add_uint32("pmix.num.nodes", static_cast<std::uint32_t>(hostnames.size()));
  info.add_uint32("pmix.local.size", local_size);
  info.add_uint32("pmix.node.size", local_size);
  info.add_string("pmix.lpeers", join(local));
  info.add_rank("pmix.lldr", local.front());
  info.add_map("pmix.nmap", nodes);
  info.add_map("pmix.pmap", ranks_of_nodes(map));
  for (std::uint32_t node = 0; node < map.ranks_by_node.size(); ++node)
    for (std::size_t i = 0; i < map.ranks_by_node[node].size(); ++i) {
      const std::uint32_t rank = map.ranks_by_node[node][i];
      InfoList of_rank;
      of_rank.add_rank("pmix.rank", rank);
      of_rank.add_rank("pmix.grank", rank);
      of_rank.add_rank("pmix.apprank", rank);
      of_rank.add_uint16("pmix.lrank", static_cast<std::uint16_t>(i));
      of_rank.add_uint16("pmix.nrank", static_cast<std::uint16_t>(i));
      of_rank.add_uint32("pmix.nodeid", node);
      of_rank.add_string("pmix.hname", hostnames[node]);
      of_rank.add_uint32("pmix.appnum", 0);
      of_rank.add_boolean("pmix.spawned", false);
      info.add_array("pmix.pdata", std::move(of_rank));
    }
  return info;
}

}  // namespace ares::mpi::pmix
