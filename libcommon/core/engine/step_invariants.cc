// Checks the rules of preemption, array throttles and kept nodes, independently of the code that enforces them.
#include <algorithm>
#include <set>

#include "core/accounts/binding_qos.h"
#include "core/engine/invariants.h"

namespace ares::core {
namespace {

class Check {
 public:
  Check(const ClusterState& before, const Policy& policy, const Event& event,
        const Earmarked& eviction)
      : before_(before), policy_(policy), at_(event.at), eviction_(eviction) {}

  std::vector<std::string> run() {
    const Job* job = before_.jobs.find(eviction_.key);
    expect(job && job->state == JobState::pending && job->hold == Hold::none,
           "its job is not pending, or is held");
    expect(!eviction_.preemption_claim.victims.empty(), "no job is preempted");
    if (!job) return std::move(out_);
    expect(!job->preempted, "it is on its way back itself");
    expect(!job->preemption_claim || job->preemption_claim->until <= at_,
           "others are being ended for it already");
    const Partition* partition = before_.partitions.find(eviction_.preemption_claim.partition);
    for (const AttemptKey& victim : eviction_.preemption_claim.victims)
      if (partition) check_victim(victim, *job, *partition);
    bounded(policy_.preemption.per_hour, std::chrono::hours(1), job->spec->uid, "in an hour");
    bounded(policy_.preemption.per_day, std::chrono::hours(24), job->spec->uid, "in a day");
    return std::move(out_);
  }

 private:
  void expect(bool holds, std::string_view text) {
    if (!holds)
      out_.push_back("preemption for job " + std::to_string(eviction_.key.job.value()) + ": " +
                     std::string(text));
  }

  void check_victim(const AttemptKey& key, const Job& job, const Partition& partition) {
    const Job* victim = before_.jobs.find(key.job);
    const bool runs = victim && victim->attempt == key.attempt &&
                      victim->state == JobState::running && victim->started && !victim->ending;
    expect(runs, "a victim does not run, or is ending already");
    if (!runs) return;
    const Partition* its = before_.partitions.find(victim->allocation->partition);
    expect(its != nullptr, "a victim's partition is gone");
    if (!its) return;
    const Qos* theirs = find_qos(before_.accounting, qos_name(*victim->spec));
    const Qos* of_partition = find_qos(before_.accounting, its->qos);
    const std::optional<Seconds> own = theirs ? theirs->preempt_exempt : std::nullopt;
    const Seconds exempt = of_partition && of_partition->preempt_exempt
                               ? *of_partition->preempt_exempt
                               : own.value_or(policy_.preemption.min_age);
    expect(at_ - *victim->started - victim->allocation->suspended >= exempt,
           "a victim is too young");
    const std::optional<PreemptMode> mode = theirs ? theirs->preempt_mode : std::nullopt;
    const PreemptMode how = mode.value_or(its->preempt_mode);
    expect(how != PreemptMode::off, "a victim may not make room");
    expect(how != PreemptMode::suspend || its->tier < partition.tier,
           "a victim is suspended within its tier");
    const Qos* mine = find_qos(before_.accounting, qos_name(*job.spec));
    const bool named = mine && theirs && its->tier == partition.tier &&
                       std::find(mine->preempts.begin(), mine->preempts.end(), theirs->name) !=
                           mine->preempts.end();
    expect(its->tier < partition.tier || named ||
               (policy_.preemption.by_qos && its->name == partition.name),
           "a victim is not below it");
    expect(victim->key != job.key, "it is its own victim");
  }

  void bounded(std::uint32_t most, Duration within, UserId user, std::string_view text) {
    if (most == 0) return;
    // The other members of its gang name the same victims.
    const auto& victims = eviction_.preemption_claim.victims;
    std::set<EvictionKey> all;
    for (const AttemptKey& victim : victims) all.insert({at_, victim});
    before_.evictions.for_each([&](const EvictionKey& key, UserId whose) {
      if (whose == user && key.first + within > at_) all.insert(key);
    });
    expect(all.size() <= most, "too many " + std::string(text));
  }

  const ClusterState& before_;
  const Policy& policy_;
  const Time at_;
  const Earmarked& eviction_;
  std::vector<std::string> out_;
};

// Whether the array already runs as many tasks as its throttle allows, counted from the records.
bool is_throttled(const ClusterState& before, const JobKey& task) {
  const Job* array = before.jobs.find({task.job, TaskIndex{}});
  if (task.task.is_none() || !array || !array->array || array->array->throttle == 0) return false;
  std::uint32_t holding = 0;
  before.jobs.for_each_from({task.job, TaskIndex{0}}, [&](const JobKey& key, const Job& other) {
    if (key.job != task.job || key.task.is_none()) return false;
    holding += holds_resources(other.state) ? 1 : 0;
    return true;
  });
  return holding >= array->array->throttle;
}

// A job other than `job` for which a node of the attempt is kept, found in the records.
const Job* owner_of_a_node(const ClusterState& before, const Allocated& began) {
  const Job* owner = nullptr;
  before.jobs.for_each([&](const JobKey& key, const Job& other) {
    if (key == began.key || !other.expedited) return;
    for (const NodeShare& share : began.nodes) {
      const auto& kept = other.expedited->nodes;
      if (std::find(kept.begin(), kept.end(), share.node) != kept.end()) owner = &other;
    }
  });
  return owner;
}

}  // namespace

std::vector<std::string> check_step(const ClusterState& before, const Policy& policy,
                                    const Event& event) {
  if (const auto* eviction = std::get_if<Earmarked>(&event.body))
    return Check(before, policy, event, *eviction).run();
  const auto* began = std::get_if<Allocated>(&event.body);
  if (!began) return {};
  const std::string job = "job " + std::to_string(began->key.job.value());
  if (is_throttled(before, began->key))
    return {job + ": more tasks at once than the throttle allows"};
  if (const Job* owner = owner_of_a_node(before, *began))
    return {job + ": starts on a node that is kept for job " +
            std::to_string(owner->key.job.value())};
  return {};
}

}  // namespace ares::core
