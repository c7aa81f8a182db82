// Order of jobs: queue policies, weights, and the account tree with shares and usage. Plain data.
// Made by config/ or by a simulation, shared by every thread; immutable once in a Policy.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace ares {

// Order of a partition's jobs within its tier. Mixed policies in one tier: in enumerator order.
enum class QueuePolicy : std::uint8_t {
  priority,     // explicit or partition priority, then nice, then age
  fifo,         // by eligible time
  multifactor,  // a weighted sum of factors
  fair_tree,    // by rank in the tree of accounts
  drf,          // by dominant resource share
};
inline constexpr std::array<std::string_view, 5> kQueuePolicyNames{
    "priority", "fifo", "multifactor", "fair_tree", "drf"};
constexpr std::string_view to_string(QueuePolicy policy) {
  return kQueuePolicyNames[static_cast<std::size_t>(policy)];
}

// By resource name as in accounting: cpu, mem (MiB), node, gres/gpu, gres/gpu:TYPE, billing.
using TresSeconds = std::map<std::string, std::uint64_t>;

// Weights of resources in fixed point, units of 2^-20.
inline constexpr int kTresWeightBits = 20;
using TresWeights = std::map<std::string, std::uint64_t>;

// One row of the tree: an account below its parent, or a user in an account.
struct AccountRow {
  std::string account;                      // empty in a row of a user: the root
  std::string parent;                       // of an account; empty: the root
  std::string user;                         // empty: this is the account itself
  std::optional<std::uint32_t> shares = 1;  // none: the parent's (Fairshare=parent)
  std::uint32_t priority = 0;               // only users: input of the factor `association`
  TresSeconds usage;                        // only users; decayed to Fairness::usage_time
  friend bool operator==(const AccountRow&, const AccountRow&) = default;
};

struct PriorityWeights {
  std::uint32_t age = 0;
  std::uint32_t association = 0;
  std::uint32_t fairshare = 0;
  std::uint32_t job_size = 0;
  std::uint32_t partition = 0;
  std::uint32_t qos = 0;
  friend bool operator==(const PriorityWeights&, const PriorityWeights&) = default;
};

struct PriorityFlags {
  bool favor_small = false;
  bool small_relative_to_time = false;
  bool accrue_always = false;
  bool no_fair_tree = false;
  bool no_normal_association = false;
  bool no_normal_partition = false;
  bool no_normal_qos = false;
  bool no_normal_tres = false;
  friend bool operator==(const PriorityFlags&, const PriorityFlags&) = default;
};

enum class BillingMode : std::uint8_t { sum, max_tres, max_tres_gres };
enum class DrfUsage : std::uint8_t { running, delivered };

// When usage is reset to zero, in the time zone of the controller's machine.
enum class UsageReset : std::uint8_t { never, daily, weekly, monthly, quarterly, yearly };

struct Fairness {
  QueuePolicy policy = QueuePolicy::priority;     // of partitions without an entry below
  std::map<std::string, QueuePolicy> partitions;  // by name
  Seconds half_life{7 * 24 * 3600};               // of usage; 0 = no decay
  UsageReset reset = UsageReset::never;
  Seconds calc_period{300};        // interval between computations of ages and usage
  Seconds max_age{7 * 24 * 3600};  // age at which the factor `age` reaches 1
  std::uint32_t dampening = 1;     // of the classic fair-share factor
  PriorityWeights weights;
  std::map<std::string, std::uint32_t> tres_weights;  // of the factors `tres`
  std::map<std::string, std::uint32_t> qos;           // priority of each QOS
  PriorityFlags flags;
  BillingMode billing = BillingMode::sum;
  TresWeights billing_weights{{"cpu", 1 << kTresWeightBits}};
  DrfUsage drf_usage = DrfUsage::running;
  Seconds usage_time{0};         // time to which the tree's usage is decayed, since 1970; 0 = now
  std::vector<AccountRow> tree;  // in any order

  friend bool operator==(const Fairness&, const Fairness&) = default;

  QueuePolicy policy_of(const std::string& partition) const {
    const auto found = partitions.find(partition);
    return found == partitions.end() ? policy : found->second;
  }
};

// An error in a tree, and the row that has it.
struct TreeProblem {
  std::size_t row = 0;
  std::string text;
};
// Checks that rows are unique, parents and accounts exist, and no account is below itself.
std::optional<TreeProblem> problem_of(const std::vector<AccountRow>& tree);

// Shared, compared by value; null stands for Fairness{}.
struct SharedFairness {
  std::shared_ptr<const Fairness> value;
  friend bool operator==(const SharedFairness& a, const SharedFairness& b) {
    return a.value == b.value || (a.value && b.value && *a.value == *b.value);
  }
};

}  // namespace ares
