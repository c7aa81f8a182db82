// Components of the priorities of pending jobs, as aprio prints them.
#include <algorithm>
#include <vector>

#include "aresctld/query/queries.h"
#include "core/sched/queue/priority_report.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

bool is_asked_for(const api::ListPriorities& request, const std::vector<JobKey>& jobs,
                  const core::sched::PriorityLine& line) {
  const auto named = [](const auto& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!named(request.users(), line.job->spec->user) ||
      !named(request.partitions(), line.partition->name))
    return false;
  const JobKey& key = line.job->key;
  return jobs.empty() || std::any_of(jobs.begin(), jobs.end(), [&](const JobKey& wanted) {
           return wanted == key || (wanted.task.is_none() && wanted.job == key.job) ||
                  (wanted.job == key.job && line.job->array &&
                   line.job->array->waiting.contains(wanted.task.value));
         });
}

}  // namespace

Result<api::Priorities> list_priorities(const View& view, const Policy& policy,
                                        const api::ListPriorities& request, Time now) {
  std::vector<JobKey> jobs;
  for (const api::JobRef& ref : request.jobs()) {
    const auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    jobs.push_back(*key);
  }
  core::sched::PriorityReport report = core::sched::priority_report(*view.state, policy, now);
  std::erase_if(report.lines, [&](const auto& line) { return !is_asked_for(request, jobs, line); });
  std::stable_sort(report.lines.begin(), report.lines.end(),
                   [](const auto& a, const auto& b) { return a.value > b.value; });
  api::Priorities out;
  out.set_multifactor(report.any_multifactor);
  for (const auto& row : core::fairness::factor_table()) out.add_factors(std::string(row.name));
  for (const double weight : report.weights) out.add_weights(weight);
  for (const auto& line : report.lines) {
    api::Priorities::Line& to = *out.add_lines();
    proto::to_api(line.job->key, to.mutable_job());
    to.set_partition(line.partition->name);
    to.set_user(line.job->spec->user);
    to.set_account(line.job->spec->account);
    to.set_qos(line.job->spec->qos);
    to.set_value(line.value);
    to.set_set(line.set);
    for (const auto& factor : line.factors.factors) {
      to.add_normalised(factor.normalised);
      to.add_weighted(factor.weighted);
    }
  }
  return out;
}

}  // namespace ares::aresctld
