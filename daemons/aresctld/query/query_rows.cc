#include "aresctld/query/query_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hostlist.h"
#include "base/units.h"
#include "core/cluster/dead_node.h"
#include "core/cluster/lease_monitor.h"
#include "core/cluster/resume_conflict.h"
#include "core/cluster/spare_nodes.h"
#include "core/job/gang.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/order.h"
#include "core/state/indexes.h"
#include "model/job/gpu_part.h"
#include "model/job/requested.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

// Maximum kinds of jobs with detailed reasons in one answer: each takes a scan of all nodes.
constexpr std::size_t kKindsExplained = 200;

// Maximum number of jobs with `jobs_ahead` in one answer: each takes a scan of the whole queue.
constexpr std::size_t kLooksAtQueue = 20;

std::int64_t micros(Time t) {
  return t.time_since_epoch().count();
}
std::int64_t micros(const std::optional<Time>& t) {
  return t ? micros(*t) : 0;
}

// Reuses the buffer, because one row is filled repeatedly.
void put(std::string* to, std::string_view text) {
  to->assign(text);
}

std::string_view phase_name(SharePhase phase) {
  switch (phase) {
    case SharePhase::preparing: return "preparing";
    case SharePhase::ready: return "ready";
    case SharePhase::running: return "running";
    case SharePhase::released: return "released";
    case SharePhase::fenced: return "fenced";
  }
  return "preparing";
}

// Thousandths of GPUs by type; GPUs of unknown type are counted as "gpu".
using GpuCounts = std::map<std::string, std::int64_t>;

std::string tres_text(std::uint64_t cpus, Bytes memory, std::size_t nodes, const GpuCounts& gpus) {
  std::string text = "cpu=" + std::to_string(cpus);
  if (memory.value() > 0) text += ",mem=" + format_memory(memory);
  text += ",node=" + std::to_string(nodes);
  std::int64_t total = 0;
  for (const auto& [type, count] : gpus) total += count;
  if (total > 0) text += ",gres/gpu=" + format_thousandths(total);
  for (const auto& [type, count] : gpus)
    if (type != "gpu") text += ",gres/gpu:" + type + "=" + format_thousandths(count);
  return text;
}

void count_gpus(const Node* node, const NodeShare& share, GpuCounts& counts) {
  for (const GpuIndex index : share.gpus) {
    std::string type = "gpu";
    if (node)
      for (const Gpu& gpu : node->inventory.gpus)
        if (gpu.index == index) type = gpu.type;
    counts[type] += held_of_each(share.gpu_part);
  }
}

void add_share(const NodeShare& share, const Node* node, api::Job& out) {
  api::NodeShare* row = out.add_shares();
  row->set_node(node ? node->name : "?");
  row->set_cpus(share.cpus);
  row->set_memory(share.memory.value());
  for (const GpuIndex index : share.gpus) row->add_gpus(index.value());
  row->set_gpu_part(share.gpu_part);
  row->set_cpu_thousandths(share.cpu_thousandths);
  put(row->mutable_phase(), phase_name(share.phase));
}

void put_list(const std::vector<std::string>& words, std::string* to) {
  to->clear();
  for (const auto& word : words) {
    if (!to->empty()) *to += ',';
    *to += word;
  }
}

std::string requested_tres(const JobSpec& spec) {
  GpuCounts gpus;
  for (const auto& [type, count] : requested_gpus_by_type(spec))
    gpus[type.empty() ? "gpu" : type] = static_cast<std::int64_t>(count);
  return tres_text(requested_cpus(spec), requested_memory(spec), requested_nodes(spec), gpus);
}

// Number of tasks of the array with a lower index.
std::uint64_t rank_of(const JobSpec& spec, std::uint32_t task) {
  std::uint64_t rank = 0;
  if (!spec.array) return rank;
  for (const IntervalSet::Interval& run : spec.array->intervals()) {
    if (task <= run.last) return rank + (task - run.first);
    rank += std::uint64_t{run.last} - run.first + 1;
  }
  return rank;
}

void describe_request(const JobSpec& spec, const ShownFields& shown, api::Job& out) {
  if (shown(api::Job::kNameFieldNumber)) put(out.mutable_name(), spec.name);
  if (shown(api::Job::kUserFieldNumber)) put(out.mutable_user(), spec.user);
  if (shown(api::Job::kAccountFieldNumber)) put(out.mutable_account(), spec.account);
  if (shown(api::Job::kQosFieldNumber)) put(out.mutable_qos(), spec.qos);
  out.set_uid(spec.uid.value());
  if (shown(api::Job::kGpusFieldNumber))
    for (const auto* gpus : {&spec.gpus_per_node, &spec.gpus_per_task, &spec.gpus_total})
      for (const auto& gpu : *gpus)
        out.add_gpus((gpu.type.empty() ? "" : gpu.type + ":") +
                     format_thousandths(thousandths_of(gpu)));
  if (shown(api::Job::kRequestedTresFieldNumber)) out.set_requested_tres(requested_tres(spec));
}

void describe_preemption(const Job& job, api::Job& out) {
  const auto& last = job.ending && job.ending->preempted ? job.ending->preempted : job.preempted;
  if (last) {
    proto::to_api(last->by, out.mutable_preempted_by());
    out.set_preempted_at(micros(last->at));
    out.set_preempt_until(micros(last->at + last->grace));
  }
  if (!has_preemption_claim(job)) return;
  out.set_preempt_until(micros(job.preemption_claim->ready));
  for (const AttemptKey& victim : job.preemption_claim->victims)
    proto::to_api(victim.job, out.add_preempting());
}

// Of a job that returns first, and of the node whose failure ended its attempt.
void describe_expedite(const ClusterState& state, const Job& job, api::Job& out) {
  const auto name_of = [&](NodeId id) {
    const Node* node = state.nodes.find(id);
    return node ? node->name : std::string();
  };
  out.set_expedited_returns(job.expedited_returns);
  if (job.allocation) {
    const NodeShares& shares = job.allocation->nodes;
    std::vector<std::string> spare;
    for (std::size_t rank = core::nodes_in_use(*job.spec, shares.size()); rank < shares.size();
         ++rank)
      if (std::string name = name_of(shares[rank].node); !name.empty())
        spare.push_back(std::move(name));
    if (!spare.empty()) out.set_spare_nodes(compress_hostlist(spare));
  }
  if (job.ending && job.ending->failed_node) out.set_failed_node(name_of(*job.ending->failed_node));
  if (!job.expedited) return;
  out.set_returns_first(true);
  std::vector<std::string> names;
  for (const NodeId id : job.expedited->nodes)
    if (std::string name = name_of(id); !name.empty()) names.push_back(std::move(name));
  if (names.empty()) return;
  out.set_kept_nodes(compress_hostlist(names));
  out.set_kept_until(micros(job.expedited->until));
}

// Duration of earlier suspensions; start and cause of the current one.
void describe_suspension(const Job& job, api::Job& out) {
  if (!job.allocation) return;
  out.set_suspended(job.allocation->suspended.count());
  const auto& now = job.allocation->suspension;
  if (!now) return;
  out.set_suspended_at(micros(now->at));
  if (now->by) out.set_suspended_by(now->by->value());
  out.set_suspended_by_user(now->by_user);
  if (now->preempted_by) proto::to_api(*now->preempted_by, out.mutable_suspended_for());
}

}  // namespace

ShownFields ShownFields::everything(bool details) {
  ShownFields shown;
  shown.fields_.set();
  for (const int field :
       {api::Job::kSpecFieldNumber, api::Job::kSharesFieldNumber, api::Job::kExcludedFieldNumber})
    shown.fields_.set(static_cast<std::size_t>(field), details);
  return shown;
}

ShownFields ShownFields::only(std::span<const std::uint32_t> fields) {
  ShownFields shown;
  for (const std::uint32_t number : fields) {
    const std::uint32_t own = number >> 16 == 0 ? number : number >> 16;
    if (own < shown.fields_.size()) shown.fields_.set(own);
  }
  return shown;
}

void JobRows::describe(const Job& job, std::optional<std::uint32_t> waiting, api::Job& out) {
  out.Clear();
  proto::to_api(job.key, out.mutable_key());
  out.set_own_id(job.own_id.value());
  describe_request(*job.spec, shown_, out);
  if (identity_ && shown_(api::Job::kGroupFieldNumber))
    put(out.mutable_group(), identity_->name_of(job.spec->gid));
  if (shown_(api::Job::kStateFieldNumber))
    put(out.mutable_state(), job.state == JobState::pending && job.hold == Hold::special_exit
                                 ? kSpecialExit
                                 : to_string(job.state));
  if (shown_.any(api::Job::kReasonFieldNumber, api::Job::kReasonDetailFieldNumber,
                 api::Job::kExpectedStartFieldNumber, api::Job::kJobsAheadFieldNumber,
                 api::Job::kExpectedNodesFieldNumber, api::Job::kSilentNodesFieldNumber,
                 api::Job::kSilentSinceFieldNumber, api::Job::kDeadAtFieldNumber))
    describe_reason(job, out);
  if (shown_(api::Job::kPriorityFieldNumber)) out.set_priority(priorities_.of(job));
  if (job.allocation)
    describe_allocation(job, out);
  else
    describe_requested(job, out);
  out.set_submitted(micros(job.submitted));
  out.set_eligible(micros(job.eligible));
  if (shown_(api::Job::kAccruesFieldNumber))
    out.set_accrues(micros(core::accruing_since(job, accrual_limits_)));
  out.set_started(micros(job.started));
  out.set_ended(micros(job.ended));
  out.set_attempt(job.attempt.value());
  out.set_restarts(job.restarts);
  out.set_exit_code(job.exit.code);
  out.set_exit_signal(job.exit.signal);
  if (shown_(api::Job::kCauseFieldNumber)) put(out.mutable_cause(), job.cause);
  if (job.ending && job.ending->by) out.set_cancelled_by(job.ending->by->value());
  describe_preemption(job, out);
  describe_suspension(job, out);
  describe_expedite(*view_.state, job, out);
  if (shown_(api::Job::kCheckpointsFieldNumber))
    for (const Checkpoint& one : job.checkpoints) proto::to_api(one, out.add_checkpoints());
  if (shown_(api::Job::kRestoredFieldNumber) && job.restored)
    proto::to_api(*job.restored, out.mutable_restored());
  if (job.state == JobState::suspended && named_ && shown_(api::Job::kCpusTakenByFieldNumber))
    if (const auto taken = core::resume_conflict(*view_.state, job, now_))
      for (const JobKey& key : taken->by) proto::to_api(key, out.add_cpus_taken_by());
  if (job.array && !waiting) {
    if (shown_(api::Job::kArrayTasksFieldNumber))
      out.set_array_tasks(format_interval_set(job.array->waiting));
    out.set_array_throttle(job.array->throttle);
  }
  if (shown_(api::Job::kWaitingForFieldNumber))
    for (const Dependency& dependency : job.waiting_for) {
      api::Dependency* row = out.add_waiting_for();
      proto::to_api(dependency, row);
      row->set_any(job.spec->any_dependency);
    }
  if (job.spec->gang && shown_.any(api::Job::kGangFieldNumber, api::Job::kGangMembersFieldNumber,
                                   api::Job::kGangSizeFieldNumber))
    describe_gang(job, out);
  if (shown_(api::Job::kSpecFieldNumber)) proto::to_api(*job.spec, out.mutable_spec());
  if (shown_(api::Job::kExcludedFieldNumber))
    for (const NodeId id : job.excluded)
      if (const Node* node = view_.state->nodes.find(id)) out.add_excluded(node->name);
  if (waiting) {
    out.mutable_key()->set_task(*waiting);
    out.set_own_id(job.own_id.value() + 1 + rank_of(*job.spec, *waiting));
  }
}

void JobRows::describe_reason(const Job& job, api::Job& out) {
  if (job.state != JobState::pending) {
    put(out.mutable_reason(), to_string(job.reason));
    describe_silence(job, out);
    return;
  }
  const PendingInfo* seen = pending_.find(job.key);
  if (seen) out.set_expected_start(micros(seen->expected_start));
  if (seen && !seen->expected_nodes.empty() && shown_(api::Job::kExpectedNodesFieldNumber)) {
    std::vector<std::string> names;
    for (const NodeId id : seen->expected_nodes)
      if (const Node* node = view_.state->nodes.find(id)) names.push_back(node->name);
    out.set_expected_nodes(compress_hostlist(names));
  }
  if (const auto why = core::sched::blocked_by_record(job))
    put(out.mutable_reason(), to_string(why->reason));
  else
    put(out.mutable_reason(), seen ? reason_text(*seen) : to_string(job.reason));
  if (shown_.any(api::Job::kReasonDetailFieldNumber, api::Job::kJobsAheadFieldNumber))
    describe_why(job, seen, out);
}

// Whose word the job waits for before it can end.
void JobRows::describe_silence(const Job& job, api::Job& out) const {
  const std::vector<const Node*> lost = core::lost_nodes_of(*view_.state, job);
  if (lost.empty()) return;
  put(out.mutable_reason(), "NodeNotResponding");
  std::vector<std::string> names;
  std::string gone;  // what is known of those whose agent speaks
  std::optional<Time> since, dead;
  for (const Node* node : lost) {
    names.push_back(node->name);
    if (node->machine_gone)
      gone += node->name + ": " +
              (node->guard.fault.empty() ? "its machine is gone" : node->guard.fault) + "; ";
    const Time silent = node->silent_since.value_or(view_.state->activated_at);
    since = std::min(since.value_or(silent), silent);
    const auto at = core::dead_at(*view_.state, policy_, *node);
    if (at) dead = std::max(dead.value_or(*at), *at);
  }
  const std::string silent_nodes = compress_hostlist(names);
  out.set_silent_nodes(silent_nodes);
  out.set_silent_since(micros(since));
  out.set_dead_at(micros(dead));
  put(out.mutable_reason_detail(),
      gone + silent_nodes + (lost.size() == 1 ? " does" : " do") +
          " not answer, so it is unknown whether the job still runs there; an operator that knows "
          "that it does not can end it: " +
          core::declare_dead_command(lost));
}

// Size of a waiting gang: members still needed. After the start: the submitted size.
void JobRows::describe_gang(const Job& job, api::Job& out) {
  const bool gathers = waits_with_gang(job);
  const auto [known, added] = gangs_.try_emplace({job.gang, gathers});
  if (added && gathers) {
    const core::Gang gang = core::gang_of(*view_.state, job);
    known->second = {static_cast<std::uint32_t>(gang.members.size()), gang.needed()};
  } else if (added) {
    known->second = {core::remaining_members(*view_.state, job), job.spec->gang->size};
  }
  put(out.mutable_gang(), job.spec->gang->name);
  out.set_gang_members(known->second.first);
  out.set_gang_size(known->second.second);
}

// Adds numbers to the reason, and the number of jobs ahead.
void JobRows::describe_why(const Job& job, const PendingInfo* seen, api::Job& out) {
  if (explainer_.kinds() < kKindsExplained) {
    PendingInfo why = explainer_.explain(job, now_);
    if (!seen) put(out.mutable_reason(), reason_text(why));
    put(out.mutable_reason_detail(), seen && !seen->detail.empty() ? seen->detail : why.detail);
  }
  if (named_ && queue_scans_ < kLooksAtQueue && shown_(api::Job::kJobsAheadFieldNumber) &&
      !core::sched::blocked_by_record(job)) {
    ++queue_scans_;
    out.set_jobs_ahead(ahead_.of(job));
  }
}

void JobRows::describe_allocation(const Job& job, api::Job& out) const {
  const Allocation& allocation = *job.allocation;
  const bool named = shown_(api::Job::kNodeListFieldNumber);
  const bool tres = shown_(api::Job::kTresFieldNumber);
  const bool shares = shown_(api::Job::kSharesFieldNumber);
  std::vector<std::string> names;
  std::uint32_t cpus = 0;
  Bytes memory{};
  GpuCounts gpus;
  for (const NodeShare& share : allocation.nodes) {
    cpus += share.cpus;
    memory += share.memory;
    if (!named && !tres && !shares) continue;
    const Node* node = view_.state->nodes.find(share.node);
    if (named) names.push_back(node ? node->name : "?");
    if (tres) count_gpus(node, share, gpus);
    if (shares) add_share(share, node, out);
  }
  if (shown_(api::Job::kLicensesFieldNumber))
    for (const LicenseRequest& license : allocation.licenses) {
      api::LicenseRequest* row = out.add_licenses();
      row->set_name(license.name);
      row->set_count(license.count);
    }
  put(out.mutable_partition(), allocation.partition);
  out.set_node_count(static_cast<std::uint32_t>(allocation.nodes.size()));
  out.set_cpus(cpus);
  out.set_memory(memory.value());
  if (named) out.set_node_list(compress_hostlist(names));
  out.set_fence(allocation.fence.value());
  if (allocation.time_limit) out.set_time_limit(allocation.time_limit->count());
  if (tres) out.set_tres(tres_text(cpus, memory, allocation.nodes.size(), gpus));
}

// The resources that a pending job requests, as far as they are single numbers.
void JobRows::describe_requested(const Job& job, api::Job& out) const {
  const JobSpec& spec = *job.spec;
  put_list(spec.partitions, out.mutable_partition());
  out.set_node_count(spec.min_nodes);
  out.set_cpus(
      static_cast<std::uint32_t>(std::min<std::uint64_t>(requested_cpus(spec), UINT32_MAX)));
  if (spec.memory_per_node) out.set_memory(spec.memory_per_node->value() * spec.min_nodes);
  std::optional<Seconds> limit = job.time_limit;
  if (!limit && !spec.partitions.empty() && shown_(api::Job::kTimeLimitFieldNumber))
    if (const Partition* partition = view_.state->partitions.find(spec.partitions.front()))
      limit = partition->default_time ? partition->default_time : partition->max_time;
  if (limit && limit->count() > 0) out.set_time_limit(limit->count());
}

}  // namespace ares::aresctld
