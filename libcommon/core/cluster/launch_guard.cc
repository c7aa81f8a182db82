#include "core/cluster/launch_guard.h"

#include <algorithm>
#include <chrono>

#include "base/clip.h"
#include "base/duration.h"
#include "core/cluster/inventory.h"

namespace ares::core {
namespace {

constexpr Seconds kLongestRetry = std::chrono::hours(24);
constexpr std::uint32_t kMostDoublings = 20;

// After it was set aside for the n-th time in a row: retry_after * 2^(n-1), at most a day.
Time retry_time(const LaunchGuard& rules, std::uint32_t rounds, Time now) {
  const std::uint32_t doublings = std::min(rounds > 0 ? rounds - 1 : 0, kMostDoublings);
  return now + std::max(rules.retry_after,
                        std::min<Seconds>(rules.retry_after * (1LL << doublings), kLongestRetry));
}

void forget_old_failures(const LaunchGuard& rules, Time now, NodeGuard& guard) {
  std::erase_if(guard.failures, [&](Time at) { return at + rules.window < now; });
}

// A node that is too late once is probably too late for all that it was sent until then.
bool counts(const Policy& policy, LaunchBlame blame, const NodeGuard& guard, Time now) {
  switch (blame) {
    case LaunchBlame::none: return false;
    case LaunchBlame::refused: return true;
    case LaunchBlame::late:
      return guard.failures.empty() || guard.failures.back() + policy.prepare_timeout <= now;
  }
  return false;
}

// A fault does not count that was there when an operator resumed the node.
std::string why_set_aside(const Node& node, const NodeGuard& guard, const std::string& low) {
  const bool overruled = node.admin == AdminState::up && !node.guard.fault.empty();
  if (!guard.problem.empty()) return guard.problem;
  if (!guard.fault.empty() && !overruled) return guard.fault;
  if (!low.empty()) return low;
  return guard.retry_at ? guard.reason : std::string{};
}

}  // namespace

bool is_set_aside(const Node& node) {
  return node.admin == AdminState::drain && !node.reason_by;
}

void settle(const Node& node, NodeGuard guard, const Inventory& found, Events& out) {
  const std::string why = why_set_aside(node, guard, shortfall(node.configured, found));
  if (guard != node.guard) out.emplace_back(NodeGuardSet{node.id, std::move(guard)});
  if (is_set_aside(node)) {
    if (why.empty())
      out.emplace_back(NodeAdminSet{node.id, AdminState::up, {}, {}});
    else if (why != node.reason)
      out.emplace_back(NodeAdminSet{node.id, AdminState::drain, why, {}});
  } else if (node.admin == AdminState::up && !why.empty()) {
    out.emplace_back(NodeAdminSet{node.id, AdminState::drain, why, {}});
  }
}

void launch_failed(const Policy& policy, const Node& node, LaunchBlame blame,
                   const std::string& cause, Time now, Events& out) {
  const LaunchGuard& rules = policy.launch_guard;
  // A node that is out of service already had these launches before.
  if (rules.failures == 0 || node.admin != AdminState::up) return;
  NodeGuard guard = node.guard;
  forget_old_failures(rules, now, guard);
  if (!counts(policy, blame, guard, now)) return;
  guard.failures.push_back(now);
  if (guard.on_trial) {
    guard.reason = clip("the launch failed with which it was tried again: " + cause);
  } else if (guard.failures.size() >= rules.failures) {
    guard.reason = clip(std::to_string(guard.failures.size()) + " launches failed within " +
                        format_duration(rules.window) + "; last: " + cause);
  }
  if (!guard.reason.empty()) {
    ++guard.rounds;
    guard.on_trial = false;
    guard.retry_at = retry_time(rules, guard.rounds, now);
    guard.failures.clear();
  }
  settle(node, std::move(guard), node.inventory, out);
}

void attempt_runs(const Node& node, Events& out) {
  if (!node.guard.on_trial) return;
  out.emplace_back(
      NodeGuardSet{node.id, NodeGuard{.fault = node.guard.fault, .problem = node.guard.problem}});
}

NodeGuard with_fault(NodeGuard guard, const std::string& fault) {
  if (fault.empty() && !guard.fault.empty()) {
    // Launches probably failed because of it.
    guard = after_restart(guard);
    guard.fault.clear();
  } else if (guard.fault.empty()) {
    guard.fault = clip(fault);
  }
  return guard;
}

void fault_reported(const Node& node, const std::string& fault, Events& out) {
  NodeGuard guard = with_fault(node.guard, fault);
  if (guard.fault != node.guard.fault) settle(node, std::move(guard), node.inventory, out);
}

void problem_reported(const Node& node, const std::string& problem, Events& out) {
  if (!node.guard.problem.empty()) return;  // the first one is what an operator looks for
  NodeGuard guard = node.guard;
  guard.problem = clip(problem);
  settle(node, std::move(guard), node.inventory, out);
}

NodeGuard after_restart(const NodeGuard& guard) {
  NodeGuard after{.rounds = guard.rounds,
                  .on_trial = guard.on_trial,
                  .fault = guard.fault,
                  .problem = guard.problem};
  after.on_trial = after.on_trial || guard.retry_at;
  return after;
}

void try_again(const Node& node, Time now, Events& out) {
  if (!node.guard.retry_at || now < *node.guard.retry_at) return;
  NodeGuard guard = after_restart(node.guard);
  settle(node, std::move(guard), node.inventory, out);
}

}  // namespace ares::core
