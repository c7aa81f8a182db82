#include "core/sched/pass/plan_text.h"

namespace ares::core {
namespace {

std::string name_of(const JobKey& key) {
  const std::string job = std::to_string(key.job.value());
  return key.task.is_none() ? job : job + "_" + std::to_string(key.task.value);
}

std::string text_of(std::optional<Time> time) {
  return time ? std::to_string(time->time_since_epoch().count()) : "-";
}

std::string text_of(const NodeShare& share) {
  std::string text = " " + std::to_string(share.node.value()) + ":" + std::to_string(share.cpus) +
                     "/" + std::to_string(share.memory.value()) + "/" + std::to_string(share.tasks);
  for (const std::uint32_t cpu : share.cpu_ids) text += "c" + std::to_string(cpu);
  for (const GpuIndex gpu : share.gpus) text += "g" + std::to_string(gpu.value());
  if (share.gpu_part > 0) text += "p" + std::to_string(share.gpu_part);
  if (share.cpu_thousandths > 0) text += "m" + std::to_string(share.cpu_thousandths);
  return text;
}

std::string text_of(const ProposedClaim& wanted) {
  const PreemptionClaim& claim = wanted.claim;
  std::string text = "keep " + name_of(wanted.key) + " " + claim.partition + " until " +
                     text_of(claim.ready) + " from";
  for (const AttemptKey& victim : claim.victims)
    text += " " + name_of(victim.job) + "." + std::to_string(victim.attempt.value());
  for (const NodeShare& share : claim.nodes) text += text_of(share);
  return text + "\n";
}

}  // namespace

std::string plan_text(const Plan& plan) {
  std::string text;
  for (const PlanGroup& group : plan.groups) {
    text += "group\n";
    for (const Start& start : group.starts) {
      text += "start " + name_of(start.key) + " " + start.partition + " " +
              (start.time_limit ? std::to_string(start.time_limit->count()) : "-");
      for (const LicenseRequest& license : start.licenses)
        text += " " + license.name + "=" + std::to_string(license.count);
      if (start.alternative != 0) text += " as " + std::to_string(start.alternative);
      for (const NodeShare& share : start.nodes) text += text_of(share);
      text += "\n";
    }
    for (const ProposedClaim& claim : group.claims) text += text_of(claim);
    if (group.resume)
      text += "resume " + name_of(group.resume->job) + "." +
              std::to_string(group.resume->attempt.value()) + "\n";
  }
  plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
    text += "wait " + name_of(key) + " " + std::string(reason_text(info)) + " " +
            text_of(info.expected_start);
    for (const NodeId node : info.expected_nodes) text += " " + std::to_string(node.value());
    text += " " + info.detail + "\n";
  });
  return text + "wake " + text_of(plan.wake) + "\n";
}

}  // namespace ares::core
