// Explains why a job is pending: aqueue --why, actl show job.
#include "aresctld/query/query_why.h"

#include <algorithm>

#include "aresctld/query/queries.h"
#include "aresctld/query/query_rows.h"
#include "base/hostlist.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

std::int64_t micros(const std::optional<Time>& t) {
  return t ? t->time_since_epoch().count() : 0;
}

std::string hosts(const ClusterState& state, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId id : nodes)
    if (const Node* node = state.nodes.find(id)) names.push_back(node->name);
  return compress_hostlist(names);
}

// Null: it does not exist. A task without a record is represented by the record of its array.
const Job* record_of(const ClusterState& state, const JobKey& key) {
  if (const Job* job = state.jobs.find(key)) return job;
  const Job* array = key.task.is_none() ? nullptr : state.jobs.find(JobKey{key.job, {}});
  const bool waits = array && array->array && array->array->waiting.contains(key.task.value);
  return waits ? array : nullptr;
}

}  // namespace

void to_api(const core::JobExplanation& why, const ClusterState& state, api::Explanation& out) {
  out.set_waits(true);
  out.set_starts_now(why.starts_now);
  for (const core::WaitCause& cause : why.causes) {
    api::Explanation::Cause* row = out.add_causes();
    row->set_reason(cause.limit.empty() ? std::string(to_string(cause.reason)) : cause.limit);
    row->set_partition(cause.partition);
    row->set_text(cause.text);
    row->set_until(micros(cause.until));
    for (const core::DelayedStart& planned_start : cause.delays) {
      api::Explanation::Promise* to = row->add_promises();
      proto::to_api(planned_start.job, to->mutable_job());
      to->set_start(micros(planned_start.start));
      to->set_nodes(hosts(state, planned_start.nodes));
    }
  }
  out.set_jobs_ahead(why.jobs_ahead);
  out.set_expected_start(micros(why.start));
  out.set_at_the_earliest(why.at_the_earliest);
  out.set_expected_nodes(hosts(state, why.nodes));
  out.set_queue_policy(std::string(to_string(why.priority.policy)));
  out.set_priority(why.priority.value);
  out.set_priority_set(why.priority.set);
  out.set_standing(why.priority.standing);
  for (const core::PriorityFactor& factor : why.priority.factors) {
    api::Explanation::Factor* row = out.add_factors();
    row->set_name(std::string(factor.name));
    row->set_weight(factor.weight);
    row->set_value(factor.value);
    row->set_weighted(factor.weighted);
  }
  for (const core::SuggestedChange& change : why.changes) {
    api::Explanation::Change* row = out.add_changes();
    row->set_text(change.text);
    row->set_note(change.note);
  }
  out.set_cut(why.cut);
}

Result<api::Explanation> explain(const View& view, const Policy& policy,
                                 const api::ExplainJob& request, Time now) {
  const auto key = proto::from_api(request.job());
  if (!key) return fail(key.error());
  const Job* record = record_of(*view.state, *key);
  if (!record)
    return fail(ErrorCode::not_found,
                "Invalid job id specified: " + std::to_string(key->job.value()));
  api::Explanation out;
  std::optional<std::uint32_t> waiting;  // a task of the array
  if (record->key != *key) waiting = key->task.value;
  JobRows(view, policy, ShownFields::everything(false), true, now)
      .describe(*record, waiting, *out.mutable_job());
  if (record->state != JobState::pending || !is_queued(*record)) return out;
  to_api(core::explain_job(*view.state, policy, *record, view.pending->find(record->key),
                           std::max(now, view.state->now)),
         *view.state, out);
  return out;
}

}  // namespace ares::aresctld
