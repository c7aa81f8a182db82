#include "actl/names.h"

#include "cli/values/job_ids.h"

namespace ares::actl {

const std::vector<std::string>& NameCache::of(Names names) {
  const auto [found, added] = known_.try_emplace(names);
  if (added) found->second = fetch(names);
  return found->second;
}

std::vector<std::string> NameCache::fetch(Names names) {
  api::Request request;
  switch (names) {
    case Names::jobs: request.mutable_list_jobs(); break;
    case Names::nodes: request.mutable_list_nodes(); break;
    case Names::partitions: request.mutable_list_partitions(); break;
    case Names::reservations: request.mutable_list_reservations(); break;
    case Names::none: return {};
  }
  const auto response = context_.call_for_all(request, cli::RetryPolicy::none);
  if (!response) return {};
  std::vector<std::string> out;
  for (const api::Job& job : response->jobs().jobs())
    out.push_back(cli::format_job_id(cli::key_of(job.key())));
  for (const api::Node& node : response->nodes().nodes()) out.push_back(node.name());
  for (const api::Partition& partition : response->partitions().partitions())
    out.push_back(partition.name());
  for (const api::Reservation& one : response->reservations().reservations())
    out.push_back(one.name());
  return out;
}

}  // namespace ares::actl
