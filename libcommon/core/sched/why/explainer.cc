#include "core/sched/why/explainer.h"

#include <map>
#include <optional>
#include <string>

#include "core/accounts/limits/limit_use.h"
#include "core/accounts/limits/planned_start_threshold.h"
#include "core/cluster/licenses.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/gang_admission.h"
#include "core/sched/queue/job_classes.h"
#include "core/sched/queue/ranking.h"
#include "core/sched/queue/reason_text.h"

namespace ares::core {

using namespace sched;

struct Explainer::Memory {
  Memory(const ClusterState& state, const Policy& policy, Time now)
      : index(state, &policy.networks), licenses(state, policy), use(state, policy, now) {
    set_plugins(index, policy.plugins, &policy.networks);
    job_classes.begin_pass();
    use.set_fair_share([&, now](const JobSpec& spec) {
      if (!ranking) ranking.emplace(state, policy, index, now);
      return ranking->fair_share_of(spec);
    });
  }
  ClusterIndex index;
  LicensePool licenses;
  LimitUse use;
  // Made when the first job is explained whose QOS has a threshold.
  std::optional<Ranking> ranking;
  JobClasses job_classes;
  std::map<JobId, GangAdmissionStatus> gangs;
  std::size_t kinds = 0;
};

Explainer::Explainer(const ClusterState& state, const Policy& policy)
    : state_(state), policy_(policy) {}
Explainer::~Explainer() = default;

PendingInfo Explainer::explain(const Job& job, Time now) {
  if (auto why = blocked_by_record(job)) return *std::move(why);
  if (!memory_) memory_ = std::make_unique<Memory>(state_, policy_, now);
  const auto reason = [](Reason named, std::string detail) {
    return PendingInfo{named, std::move(detail), std::nullopt, {}};
  };
  std::string together;
  if (waits_with_gang(job)) {
    auto [found, added] = memory_->gangs.try_emplace(job.gang);
    if (added) found->second = admit_gang(state_, memory_->use, job, now);
    const auto refused = found->second.refused.find(job.key);
    if (refused != found->second.refused.end()) return refused->second;
    together = gang_start_text(found->second.gang);
  }
  std::optional<PendingInfo> most;
  for (std::uint32_t i = 0; i < job.spec->partitions.size(); ++i) {
    const QueueEntry entry{&job, state_.partitions.find(job.spec->partitions[i]), i};
    PendingInfo info;
    if (const Admission admission = admit(state_, memory_->use, entry, {}, now);
        admission.refused) {
      info = *admission.refused;
    } else if (!memory_->licenses.choose(*job.spec)) {
      info = reason(Reason::licenses, memory_->licenses.explain(*job.spec));
    } else {
      const auto relaxed_at = relaxed_from(job);
      JobClass& job_class =
          memory_->job_classes.of(entry, memory_->index, relaxed_at && *relaxed_at <= now);
      if (!job_class.waiting_reason) {
        ++memory_->kinds;
        job_class.waiting_reason = memory_->job_classes.impossible(job_class, memory_->index, true);
        if (!job_class.waiting_reason)
          job_class.waiting_reason = std::make_shared<const PendingInfo>(
              reason(Reason::priority, explain_blocked(job_class, memory_->index)));
      }
      info = *job_class.waiting_reason;
      const std::string floor = planned_start_threshold_text(
          state_.accounting, policy_.accounting.enforce, *job.spec, *entry.partition);
      if (!floor.empty()) info.detail += "; " + floor;
    }
    info.detail.insert(0, together);
    if (!most || is_more_informative(info, *most)) most = std::move(info);
  }
  return most.value_or(PendingInfo{});
}

std::size_t Explainer::kinds() const {
  return memory_ ? memory_->kinds : 0;
}

}  // namespace ares::core
