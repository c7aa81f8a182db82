// What running jobs use, as astat prints it.
#include <algorithm>
#include <set>
#include <vector>

#include "aresctld/accounting/step_rows.h"
#include "aresctld/query/queries.h"
#include "aresctld/query/query_filter.h"
#include "cli/values/job_ids.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

constexpr int kMostLines = 5000;  // of an answer, and then those of the same job

// Of the jobs that hold resources on a node.
std::set<JobKey> charged_jobs(const ClusterState& state) {
  std::set<JobKey> keys;
  state.nodes.for_each([&](NodeId, const Node& node) {
    for (const Charge& charge : node.charges) keys.insert(charge.attempt.job);
  });
  return keys;
}

bool is_named(const std::vector<JobKey>& named, const JobKey& key) {
  return named.empty() || std::any_of(named.begin(), named.end(), [&](const JobKey& wanted) {
           return wanted.job == key.job && (wanted.task.is_none() || wanted == key);
         });
}

bool runs(const Job& job) {
  return job.allocation && job.started && !is_terminal(job.state);
}

void put_line(const ClusterState& state, const NodeHub& hub, const Job& job, const NodeShare& share,
              api::RunningUse::Line& line) {
  proto::to_api(job.key, line.mutable_job());
  line.set_user(job.spec->user);
  line.set_partition(job.allocation->partition);
  line.set_cpus(share.cpus);
  line.set_tasks(share.tasks);
  line.set_memory_allocated(share.memory.value());
  line.set_started_at(job.started->time_since_epoch().count());
  const Node* node = state.nodes.find(share.node);
  if (!node) return;
  line.set_node(node->name);
  const auto heard = hub.use_of(node->name, AttemptKey{job.key, job.attempt});
  if (!heard) return;
  line.set_known(true);
  line.set_heard_at(heard->at.time_since_epoch().count());
  line.set_user_cpu(heard->use.usage.user_cpu.count());
  line.set_system_cpu(heard->use.usage.system_cpu.count());
  line.set_max_rss(heard->use.usage.max_rss.value());
  line.set_memory(heard->use.memory.value());
  line.set_processes(heard->use.processes);
  line.set_disk_read(heard->use.usage.disk_read.value());
  line.set_disk_written(heard->use.usage.disk_written.value());
  for (const StepRecord& step : heard->use.steps) to_api(step, *line.add_steps());
}

Status check_running(const ClusterState& state, const std::vector<JobKey>& named,
                     const std::set<JobKey>& charged) {
  for (const JobKey& key : named) {
    const auto at = charged.lower_bound(key);
    if (at != charged.end() && is_named({key}, *at)) continue;
    const std::string id = cli::format_job_id(key);
    if (!state.jobs.find(key) && !state.jobs.find(JobKey{key.job, {}}))
      return fail(ErrorCode::not_found, "Invalid job id specified: " + id);
    return fail(ErrorCode::failed_precondition,
                "job " + id + " does not run; aacct -j " + id + " tells what it used");
  }
  return {};
}

}  // namespace

Result<api::RunningUse> list_use(const View& view, const NodeHub& hub, const Policy& policy,
                                 const api::ListUse& request, Time now) {
  const ClusterState& state = *view.state;
  std::vector<JobKey> named;
  for (const api::JobRef& ref : request.jobs()) {
    const auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    named.push_back(*key);
  }
  const std::set<JobKey> charged = charged_jobs(state);
  if (Status running = check_running(state, named, charged); !running) return fail(running.error());
  auto at = charged.begin();
  if (request.has_after()) {
    const auto after = proto::from_api(request.after());
    if (!after) return fail(after.error());
    at = charged.upper_bound(*after);
  }
  const Users users(request.users());
  api::RunningUse out;
  out.set_cluster(policy.cluster_name);
  out.set_now(now.time_since_epoch().count());
  for (; at != charged.end(); ++at) {
    const Job* job = state.jobs.find(*at);
    if (!job || !runs(*job) || !is_named(named, *at)) continue;
    if (!users.empty() && !users.has(*job->spec)) continue;
    for (const NodeShare& share : job->allocation->nodes)
      put_line(state, hub, *job, share, *out.add_lines());
    if (out.lines_size() < kMostLines) continue;
    proto::to_api(*at, out.mutable_next());
    break;
  }
  return out;
}

}  // namespace ares::aresctld
