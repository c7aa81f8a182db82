#include "core/sched/queue/job_classes.h"

#include <algorithm>
#include <utility>

#include "core/cluster/container_nodes.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/queue/reason_text.h"
#include "model/job/gpu_alternatives.h"

namespace ares::core::sched {
namespace {

// Above this number of classes the table is cleared. Making a class again costs one read of each
// node of the partition.
constexpr std::size_t kMaxJobClasses = 10'000;

// A job that returns first takes the nodes that are kept for it before others.
std::shared_ptr<const Bitset> kept_nodes_of(const Job& job, const ClusterIndex& index) {
  auto kept = std::make_shared<Bitset>(index.nodes().size());
  for (const NodeId node : job.expedited->nodes)
    if (const auto at = index.find(node)) kept->set(*at);
  return kept;
}

// Whether GPUs of several types could be mixed, if one type is not enough.
bool may_mix_gpu_types(const Demand& demand, const ClusterIndex& index) {
  return demand.wants_any_gpu() && demand.max_nodes > 1 && index.gpu_end() > kFirstGpu + 1 &&
         demand.gpus_per_node.empty() && demand.gpus_total.empty() &&
         demand.gpus_per_task.empty() && demand.gpu_part == 0 && demand.gpu_constraint.none();
}

}  // namespace

bool JobClasses::begin_pass() {
  ++pass_;
  if (job_classes_.size() <= kMaxJobClasses) return false;
  clear();
  return true;
}

void JobClasses::clear() {
  candidates_.clear();
  job_classes_.clear();
  by_hash_.clear();
}

JobClass& JobClasses::of(const QueueEntry& entry, ClusterIndex& index, bool relaxed) {
  const bool by_user = index.by_user();
  const PluginClasses* plugin_classes = index.plugin_classes();
  const std::size_t hash =
      job_class_hash(*entry.job, by_user) ^ std::hash<const void*>{}(entry.partition) ^
      (relaxed ? 1 : 0) ^
      (plugin_classes ? plugin_classes->class_hash(*entry.job, *entry.partition) : 0);
  JobClass*& same_hash = by_hash_[hash];
  for (JobClass* job_class = same_hash; job_class; job_class = job_class->same_hash_)
    if (job_class->partition == entry.partition && job_class->relaxed == relaxed &&
        same_job_class(job_class->example, *entry.job, by_user) &&
        index.lifts_max_nodes(*job_class->example.spec) ==
            index.lifts_max_nodes(*entry.job->spec) &&
        (!plugin_classes ||
         plugin_classes->same_class(job_class->example, *entry.job, *entry.partition)))
      return refresh(*job_class, index);

  JobClass& job_class = job_classes_.emplace_back();
  job_class.example.spec = entry.job->spec;
  job_class.example.excluded = entry.job->excluded;
  if (entry.job->expedited && !entry.job->expedited->nodes.empty())
    job_class.example.expedited = entry.job->expedited;
  // Plugins may get the key and the time limit.
  job_class.example.key = entry.job->key;
  job_class.example.time_limit = entry.job->time_limit;
  job_class.partition = entry.partition;
  job_class.relaxed = relaxed;
  job_class.same_hash_ = std::exchange(same_hash, &job_class);
  add_alternatives(job_class, entry, index);
  return refresh(job_class, index);
}

void JobClasses::add_alternatives(JobClass& job_class, const QueueEntry& entry,
                                  ClusterIndex& index) {
  for (std::size_t i = 0; i < job_class.example.spec->gpu_alternatives.size(); ++i) {
    Job one = job_class.example;
    one.spec = std::make_shared<const JobSpec>(with_alternative(*job_class.example.spec, i));
    job_class.alternatives.push_back(
        &of({&one, entry.partition, entry.choice}, index, job_class.relaxed));
  }
}

// Most classes have no requirements on node names and features and share one result.
const Candidates& JobClasses::candidates_of(const JobClass& job_class, ClusterIndex& index) {
  if (generation_ != index.generation()) candidates_.clear();
  generation_ = index.generation();
  const JobSpec& spec = *job_class.example.spec;
  const Job& job = job_class.example;
  FilterKey key{job_class.partition,
                spec.features,
                spec.excluded_nodes,
                spec.required_nodes,
                spec.reservations,
                job.excluded,
                job.expedited ? std::optional(job.key) : std::nullopt,
                is_kept_off_containers(spec)};
  const auto found = candidates_.find(key);
  if (found != candidates_.end()) return found->second;
  return candidates_.emplace(std::move(key), filter(job_class.example, *job_class.partition, index))
      .first->second;
}

JobClass& JobClasses::refresh(JobClass& job_class, ClusterIndex& index) {
  for (JobClass* alternative : job_class.alternatives) refresh(*alternative, index);
  if (job_class.generation_ != index.generation()) {
    job_class.generation_ = index.generation();
    job_class.demand =
        make_demand(*job_class.example.spec, *job_class.partition, index, job_class.relaxed);
    if (const PluginClasses* plugin_classes = index.plugin_classes())
      job_class.demand.plugin_class =
          plugin_classes->class_of(job_class.example, *job_class.partition);
    job_class.candidates = candidates_of(job_class, index);
    if (job_class.example.expedited)
      job_class.demand.preferred = kept_nodes_of(job_class.example, index);
    job_class.possible_.reset();
    job_class.impossible_reason.reset();
    job_class.shortfall_ = {};
    SearchBudget unbounded = SearchBudget::unbounded();
    // Nodes that are down count: the job waits for GPUs of one type rather than that it mixes them for a time.
    if (may_mix_gpu_types(job_class.demand, index) && job_class.candidates.problem.empty())
      job_class.demand.mixes_gpu_types =
          !fit_on(job_class.demand, {job_class.candidates.members, job_class.candidates.required},
                  index, CapacityBasis::totals, unbounded);
    // Nodes on which a launch of the job failed are avoided only if it can run without them.
    job_class.use_fallback_ = false;
    job_class.use_fallback_ =
        !job_class.example.excluded.empty() &&
        !fit_on(job_class.demand, job_class.nodes(), index, CapacityBasis::totals, unbounded);
  }
  if (job_class.pass_ != pass_) {
    job_class.pass_ = pass_;
    job_class.blocked = job_class.blocked_by_planned_start = job_class.blocked_by_reservation =
        job_class.blocked_by_plugin = false;
    job_class.reservation_reason = job_class.plugin_reason = nullptr;
    job_class.blocked_limit.reset();
    job_class.planned_at_.reset();
    if (job_class.impossible_reason && !job_class.impossible_reason->detail.empty())
      job_class.impossible_reason.reset();
    job_class.waiting_reason.reset();
    job_class.first_reason.reset();
  }
  return job_class;
}

// Returns the reason if all alternatives are impossible. An alternative that waits for nodes to
// come up may become possible, so its reason takes precedence.
PendingPtr JobClasses::none_possible(JobClass& job_class, const ClusterIndex& index, bool details) {
  PendingInfo info;
  for (JobClass* alternative : job_class.alternatives) {
    const PendingPtr why = impossible(*alternative, index, details);
    if (!why) return nullptr;
    if (info.reason != Reason::req_node_not_avail) info.reason = why->reason;
    if (!why->detail.empty()) info.detail += (info.detail.empty() ? "" : "; or ") + why->detail;
  }
  if (!job_class.impossible_reason || *job_class.impossible_reason != info)
    job_class.impossible_reason = std::make_shared<const PendingInfo>(std::move(info));
  return job_class.impossible_reason;
}

PendingPtr JobClasses::impossible(JobClass& job_class, const ClusterIndex& index, bool details) {
  if (!job_class.alternatives.empty()) return none_possible(job_class, index, details);
  if (!job_class.possible_) {
    SearchBudget unbounded = SearchBudget::unbounded();
    Demand one_day = job_class.demand;
    if (job_class.example.spec->switches_wait) one_day.limits.max_leaves = 0;
    const auto fits = [&](NodeSet set) {
      return job_class.candidates.problem.empty() &&
             fit_on(one_day, set, index, CapacityBasis::totals, unbounded).has_value();
    };
    job_class.possible_ =
        (job_class.candidates.problem.empty() && fits_empty(one_day, job_class.nodes(), index)) ||
        fits(job_class.nodes());
    job_class.if_up_ = !*job_class.possible_ &&
                       fits({job_class.candidates.members, job_class.candidates.required});
    job_class.always_refused_ = !*job_class.possible_ && !job_class.if_up_ &&
                                job_class.demand.plugin_class &&
                                job_class.candidates.problem.empty() &&
                                job_class.fits_without_plugins(index, CapacityBasis::totals);
  }
  if (*job_class.possible_) return nullptr;
  if (!job_class.impossible_reason || (details && job_class.impossible_reason->detail.empty())) {
    PendingInfo info = explain_impossible(job_class, index, job_class.if_up_);
    if (!details) info.detail.clear();
    job_class.impossible_reason = std::make_shared<const PendingInfo>(std::move(info));
  }
  return job_class.impossible_reason;
}

}  // namespace ares::core::sched
