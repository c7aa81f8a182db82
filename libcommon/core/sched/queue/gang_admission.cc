#include "core/sched/queue/gang_admission.h"

#include <algorithm>

#include "core/job/decide/decision_context.h"

namespace ares::core::sched {
namespace {

// For example "job 12 (JobHeldUser)", or "job 12 (BeginTime) and 2 more".
std::string blocking_text(const Job& first, Reason reason, std::size_t count) {
  std::string text = "job " + job_text(first.key) + " (" + std::string(to_string(reason)) + ")";
  if (count > 1) text += " and " + std::to_string(count - 1) + " more";
  return text;
}

}  // namespace

bool waits_for_limits(const GangAdmissionStatus& admission) {
  const auto& members = admission.gang.members;
  return admission.gang.complete() &&
         std::none_of(members.begin(), members.end(),
                      [](const Job* job) { return blocked_by_record(*job).has_value(); }) &&
         std::all_of(admission.refused.begin(), admission.refused.end(), [](const auto& one) {
           return one.second.reason == Reason::limit ||
                  one.second.reason == Reason::waiting_for_gang;
         });
}

std::string gang_start_text(const Gang& gang) {
  const std::uint32_t others = gang.present - 1;
  return "starts together with the " + std::to_string(others) +
         (others == 1 ? " other of gang " : " others of gang ") + gang.request.name + "; ";
}

GangAdmissionStatus admit_gang(const ClusterState& state, LimitUse& use, const Job& member,
                               Time now) {
  GangAdmissionStatus out{gang_of(state, member), {}, std::nullopt};
  const Job* blocking = nullptr;
  Reason why = Reason::none;
  std::size_t count = 0;
  for (const Job* job : out.gang.members) {
    std::optional<PendingInfo> refused = blocked_by_record(*job);
    // The reason is in the job's own record.
    const bool own = refused.has_value();
    if (!own) {
      const QueueEntry entry{job, state.partitions.find(job->spec->partitions.front()), 0};
      Admission admission = admit(state, use, entry, {}, now);
      if (admission.wake) out.wake = std::min(out.wake.value_or(*admission.wake), *admission.wake);
      refused = std::move(admission.refused);
    }
    if (!refused) continue;
    if (count++ == 0) {
      blocking = job;
      why = refused->reason;
    }
    if (!own) out.refused.emplace(job->key, *std::move(refused));
  }
  if (!blocking && out.gang.complete()) return out;
  std::string text = gang_progress_text(out.gang);
  if (blocking) text += "; it waits for " + blocking_text(*blocking, why, count);
  for (const Job* job : out.gang.members)
    if (!blocked_by_record(*job))
      out.refused.try_emplace(job->key,
                              PendingInfo{Reason::waiting_for_gang, text, std::nullopt, {}});
  return out;
}

}  // namespace ares::core::sched
