// What preemption promises, checked apart from the code that keeps it.
#include <algorithm>
#include <set>

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
           "nobody lives to be served by it");
    expect(!eviction_.earmark.victims.empty(), "nobody is preempted");
    if (!job) return std::move(out_);
    expect(!job->preempted, "it is on its way back itself");
    expect(!job->earmark || job->earmark->until <= at_, "others are being ended for it already");
    const Partition* partition = before_.partitions.find(eviction_.earmark.partition);
    for (const AttemptKey& victim : eviction_.earmark.victims)
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
    expect(at_ - *victim->started - victim->allocation->suspended >= policy_.preemption.min_age,
           "a victim is too young");
    const Partition* its = before_.partitions.find(victim->allocation->partition);
    expect(its && its->preempt_mode != PreemptMode::off, "a victim's partition forbids it");
    expect(its && (its->tier < partition.tier ||
                   (policy_.preemption.by_qos && its->name == partition.name)),
           "a victim is not below it");
    expect(victim->key != job.key, "it is its own victim");
  }

  void bounded(std::uint32_t most, Duration within, UserId user, std::string_view text) {
    if (most == 0) return;
    std::size_t count = eviction_.earmark.victims.size();
    before_.evictions.for_each([&](const EvictionKey& key, UserId whose) {
      count += whose == user && key.first + within > at_ ? 1 : 0;
    });
    expect(count <= most, "too many " + std::string(text));
  }

  const ClusterState& before_;
  const Policy& policy_;
  const Time at_;
  const Earmarked& eviction_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> check_eviction(const ClusterState& before, const Policy& policy,
                                        const Event& event) {
  const auto* eviction = std::get_if<Earmarked>(&event.body);
  return eviction ? Check(before, policy, event, *eviction).run() : std::vector<std::string>{};
}

}  // namespace ares::core
