#include "model/accounts/current_usage.h"

#include <algorithm>

#include "model/accounts/accounts.h"
#include "model/job/gpu_part.h"

namespace ares {
namespace {

bool before(const TresAmount& a, std::string_view name) {
  return a.tres < name;
}

TresAmount& entry(std::vector<TresAmount>& list, std::string_view tres) {
  const auto at = std::lower_bound(list.begin(), list.end(), tres, before);
  if (at != list.end() && at->tres == tres) return *at;
  return *list.insert(at, {std::string(tres), 0});
}

}  // namespace

UsageKey usage_key_of(const Job& job) {
  const JobSpec& spec = *job.spec;
  const bool placed = job.allocation && holds_resources(job.state);
  return {spec.account, spec.user, spec.qos.empty() ? std::string(kNormalQos) : spec.qos,
          placed                    ? job.allocation->partition
          : spec.partitions.empty() ? std::string()
                                    : spec.partitions.front()};
}

CurrentUsage current_usage_of(const Job& job) {
  CurrentUsage usage;
  if (is_terminal(job.state)) return usage;
  usage.accruing = job.accrues && is_queued(job) ? 1 : 0;
  if (job.array) {
    usage.submitted = job.array->waiting.count();
    return usage;
  }
  usage.submitted = 1;
  if (!job.allocation || !holds_resources(job.state)) return usage;
  usage.running = 1;
  usage.tres = tres_of(*job.allocation);
  return usage;
}

std::vector<TresAmount> tres_of(const Allocation& allocation) {
  std::vector<TresAmount> out = allocation.tres;
  const auto add = [&](std::string_view tres, std::uint64_t amount) {
    if (amount > 0) entry(out, tres).amount += amount;
  };
  for (const NodeShare& share : allocation.nodes) {
    add("cpu", share.cpus);
    add("mem", static_cast<std::uint64_t>(std::max<std::int64_t>(share.memory.value(), 0)) >> 20);
    add("gres/gpu", share.gpus.size() * std::uint64_t{held_of_each(share.gpu_part)});
  }
  add("node", allocation.nodes.size());
  for (const LicenseRequest& license : allocation.licenses)
    add("license/" + license.name, license.count);
  return out;
}

std::uint64_t cpu_thousandths_held(const Allocation& allocation) {
  std::uint64_t sum = 0;
  for (const NodeShare& share : allocation.nodes) sum += cpu_thousandths_of(share);
  return sum;
}

void add_tres(std::vector<TresAmount>& to, const std::vector<TresAmount>& more) {
  for (const TresAmount& one : more)
    if (one.amount > 0) entry(to, one.tres).amount += one.amount;
}

void subtract_tres(std::vector<TresAmount>& from, const std::vector<TresAmount>& less) {
  for (const TresAmount& one : less) {
    const auto at = std::lower_bound(from.begin(), from.end(), one.tres, before);
    if (at == from.end() || at->tres != one.tres) continue;
    at->amount -= std::min(at->amount, one.amount);
    if (at->amount == 0) from.erase(at);
  }
}

std::uint64_t amount_in(const std::vector<TresAmount>& list, std::string_view tres) {
  const auto at = std::lower_bound(list.begin(), list.end(), tres, before);
  return at != list.end() && at->tres == tres ? at->amount : 0;
}

}  // namespace ares
