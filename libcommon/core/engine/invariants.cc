#include "core/engine/invariants.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/job/checks/alternative_checks.h"
#include "core/job/checks/gpu_part_checks.h"
#include "core/job/gang.h"
#include "core/state/indexes.h"

namespace ares::core {
namespace {

std::string name_of(const JobKey& key) {
  return "job " + std::to_string(key.job.value()) +
         (key.task.is_none() ? "" : "_" + std::to_string(key.task.value));
}

std::string name_of(const AttemptKey& key) {
  return name_of(key.job) + " attempt " + std::to_string(key.attempt.value());
}

class Check {
 public:
  explicit Check(const ClusterState& state) : state_(state) {}

  std::vector<std::string> run() {
    state_.nodes.for_each([&](NodeId id, const Node& node) { check_node(id, node); });
    state_.jobs.for_each([&](const JobKey& key, const Job& job) { check_job(key, job); });
    check_fences();
    check_gangs();
    check_indexes();
    return std::move(out_);
  }

 private:
  void wrong(std::string text) { out_.push_back(std::move(text)); }
  void expect(bool holds, const std::string& subject, std::string_view text) {
    if (!holds) wrong(subject + ": " + std::string(text));
  }

  void check_node(NodeId id, const Node& node) {
    const std::string subject = "node " + node.name;
    const NodeId* by_name = state_.node_ids.find(node.name);
    expect(by_name && *by_name == id && node.id == id, subject,
           "the index of names does not lead to it");
    expect(id < state_.next_node_id, subject, "its id may be used again");
    std::uint64_t cpus = 0;  // thousandths
    Bytes memory{};
    DeviceUse devices;
    std::set<std::uint32_t> cpu_ids;
    std::set<std::uint16_t> ports;
    const AttemptKey* last = nullptr;
    for (const Charge& charge : node.charges) {
      cpus += cpu_thousandths_of(charge);
      memory += charge.memory;
      expect(devices.add(charge), subject, "more of a GPU is charged than there is");
      for (GpuIndex gpu : charge.gpus) {
        const auto has = [&](const Gpu& g) { return g.index == gpu; };
        // One that the configuration has taken from the node remains with the job that has it.
        const std::vector<Gpu>& gpus = node.reported ? node.reported->gpus : node.inventory.gpus;
        expect(std::any_of(gpus.begin(), gpus.end(), has), subject,
               "a GPU is charged that it does not have");
      }
      for (std::uint32_t cpu : charge.cpu_ids)
        expect(cpu_ids.insert(cpu).second, subject, "a CPU is charged twice");
      expect(charge.master_port == 0 || ports.insert(charge.master_port).second, subject,
             "two attempts have the same MASTER_PORT");
      expect(!last || *last < charge.attempt, subject, "charges out of order, or one twice");
      last = &charge.attempt;
      fences_[charge.fence].insert(charge.attempt);
      charges_.insert({id, charge.attempt});
      check_charge(id, subject, charge);
    }
    // A configuration with fewer resources does not end what runs on the node.
    const bool cut = node.configured.cpus != 0 && cpu_thousandths_of(node.configured) < cpus;
    expect(cut || cpus <= cpu_thousandths_of(node.inventory), subject,
           "more CPUs are charged than it has");
    const bool short_of = node.configured.memory != Bytes{} && node.configured.memory < memory;
    expect(short_of || memory <= node.inventory.memory, subject,
           "more memory is charged than it has");
  }

  // A charge belongs to a live share, or to a fenced one whose node has not registered clean yet.
  void check_charge(NodeId node, const std::string& subject, const Charge& charge) {
    const Job* job = state_.jobs.find(charge.attempt.job);
    if (!job || job->attempt != charge.attempt.attempt || !job->allocation ||
        job->allocation->fence != charge.fence)
      return;
    for (const NodeShare& share : job->allocation->nodes) {
      if (share.node != node) continue;
      // A suspended attempt releases all its CPUs and nothing else.
      const bool released = job->allocation->cpus_released;
      const bool cpus =
          released ? charge.cpus == 0 && charge.cpu_thousandths == 0 && charge.cpu_ids.empty()
                   : charge.cpus == share.cpus && charge.cpu_thousandths == share.cpu_thousandths &&
                         charge.cpu_ids == share.cpu_ids;
      const bool same = cpus && share.memory == charge.memory && share.gpus == charge.gpus &&
                        share.gpu_part == charge.gpu_part && job->spec->tmp_disk == charge.tmp_disk;
      const bool first = node == job->allocation->nodes.front().node;
      expect(charge.master_port == (first ? job->allocation->master_port : 0), subject,
             "the port of " + name_of(charge.attempt) + " is not the one that it was given");
      expect(same, subject,
             "the charge of " + name_of(charge.attempt) + " is not what was allocated");
      expect(share.phase != SharePhase::released, subject,
             name_of(charge.attempt) + " was released and is still charged");
      expect(holds_resources(job->state) || share.phase == SharePhase::fenced, subject,
             name_of(charge.attempt) + " is charged and over");
      return;
    }
    wrong(subject + ": " + name_of(charge.attempt) + " is charged but not allocated there");
  }

  void check_job(const JobKey& key, const Job& job) {
    const std::string subject = name_of(key);
    expect(job.key == key, subject, "stored under another key");
    expect(job.own_id < state_.next_job_id, subject, "its id may be used again");
    expect(job.version <= state_.lsn, subject, "its version is ahead of the journal");
    if (holds_resources(job.state)) {
      expect(job.allocation.has_value(), subject, "holds resources without an allocation");
      if (job.allocation) check_live(subject, job);
    }
    if (job.state == JobState::pending)
      expect(!job.allocation, subject, "pending with an allocation");
    if (is_terminal(job.state)) expect(job.ended.has_value(), subject, "terminal without an end");
    if (job.state == JobState::running)
      expect(job.started.has_value(), subject, "running without a start");
    const bool stands = job.allocation && job.allocation->suspension;
    expect(stands == (job.state == JobState::suspended), subject,
           "its state and its allocation disagree on whether it is suspended");
    if (is_active(job.state) && job.allocation)
      expect(job.allocation->cpus_released == stands, subject,
             "runs without CPUs, or keeps them while it is suspended");
    if (job.state == JobState::completing)
      expect(job.ending.has_value(), subject, "completing without a cause");
    expect(!(job.hold != Hold::none && holds_resources(job.state)), subject, "held and running");
    if (job.preemption_claim) check_claim(subject, job);
    if (job.expedited) check_expedited(subject, job);
    if (job.array) check_array(subject, job);
    if (!key.task.is_none()) {
      const Job* array = state_.jobs.find(JobKey{key.job, {}});
      expect(array && array->array, subject, "a task without its array");
      if (array && array->array)
        expect(!array->array->waiting.contains(key.task.value), subject,
               "split off and still waiting");
    }
  }

  void check_expedited(const std::string& subject, const Job& job) {
    expect(job.state == JobState::pending || job.state == JobState::completing, subject,
           "returns first although it does not wait");
    expect(job.hold == Hold::none && !job.array, subject, "is held or an array, and returns first");
    expect(job.spec->expedite || job.spec->spare_nodes > 0, subject,
           "returns first without asking for it");
    expect(job.expedited_returns > 0, subject, "a return of it is not counted");
    const auto& nodes = job.expedited->nodes;
    expect(std::is_sorted(nodes.begin(), nodes.end()), subject, "its kept nodes are not sorted");
    for (const NodeId node : nodes)
      expect(kept_.insert(node).second, subject, "a node is kept for it and for another job");
  }

  // Victims that still exist must be ending or suspended.
  void check_claim(const std::string& subject, const Job& job) {
    expect(job.state == JobState::pending && !job.array, subject,
           "is an array or not pending, and has a preemption claim");
    expect(job.preemption_claim->at <= job.preemption_claim->ready &&
               job.preemption_claim->ready < job.preemption_claim->until,
           subject, "the times of its preemption claim are out of order");
    for (const AttemptKey& victim : job.preemption_claim->victims) {
      const Job* other = state_.jobs.find(victim.job);
      const bool over = job.preemption_claim->until <= state_.now;  // suspended ones may resume
      // A suspended victim may resume as soon as there are CPUs for both.
      const bool released = other && other->allocation && other->allocation->suspend_set > Lsn{0};
      if (other && other->attempt == victim.attempt && !over && !released)
        expect(other->state != JobState::running && other->state != JobState::configuring, subject,
               "the victim " + name_of(victim) + " runs on");
    }
  }

  void check_live(const std::string& subject, const Job& job) {
    const AttemptKey attempt{job.key, job.attempt};
    fences_[job.allocation->fence].insert(attempt);
    bool all_gone = true;
    for (const NodeShare& share : job.allocation->nodes) {
      const bool gone = share.phase == SharePhase::released || share.phase == SharePhase::fenced;
      all_gone = all_gone && gone;
      if (!gone)
        expect(charges_.contains({share.node, attempt}), subject,
               "a node is allocated and not charged");
      if (job.state == JobState::configuring)
        expect(share.phase != SharePhase::running, subject, "user code runs before Started");
    }
    expect(!all_gone, subject, "every node is released and the job has not ended");
    if (!job.spec->gpu_alternatives.empty() && all_gpus_known(*job.allocation))
      expect(matches_alternative(state_, *job.spec, job.allocation->partition,
                                 job.allocation->alternative, job.allocation->nodes),
             subject, "its GPUs are none of the alternatives that it asked for");
  }

  // False if a node has lost some of the GPUs since.
  bool all_gpus_known(const Allocation& allocation) const {
    return std::all_of(
        allocation.nodes.begin(), allocation.nodes.end(), [&](const NodeShare& share) {
          const Node* node = state_.nodes.find(share.node);
          return node && std::all_of(share.gpus.begin(), share.gpus.end(), [&](GpuIndex index) {
                   const auto& has = node->inventory.gpus;
                   return std::any_of(has.begin(), has.end(),
                                      [&](const Gpu& gpu) { return gpu.index == index; });
                 });
        });
  }

  void check_array(const std::string& subject, const Job& array) {
    ArrayState sum;
    state_.jobs.for_each_from(
        JobKey{array.key.job, TaskIndex{0}}, [&](const JobKey& key, const Job& task) {
          if (key.job != array.key.job || key.task.is_none()) return false;
          sum.active += is_terminal(task.state) ? 0 : 1;
          sum.holding += holds_resources(task.state) ? 1 : 0;
          sum.completed += task.state == JobState::completed ? 1 : 0;
          sum.unsuccessful += is_terminal(task.state) && task.state != JobState::completed ? 1 : 0;
          return true;
        });
    const ArrayState& a = *array.array;
    if (is_terminal(array.state)) {
      expect(a.waiting.empty() && sum.active == 0, subject, "the array has ended before its tasks");
      return;  // its tasks may already have been removed from memory
    }
    expect(a.active == sum.active && a.holding == sum.holding && a.completed == sum.completed &&
               a.unsuccessful == sum.unsuccessful,
           subject, "the array's counters are not the sum of its tasks");
    expect(!a.waiting.empty() || sum.active > 0, subject,
           "nothing is left of the array and it has not ended");
  }

  // A fence belongs to one attempt, is at most the journal's lsn, and grows with the attempts.
  void check_fences() {
    std::map<JobKey, std::map<AttemptNo, Fence>> of_job;
    for (const auto& [fence, attempts] : fences_) {
      expect(attempts.size() == 1, "fence " + std::to_string(fence.value()),
             "belongs to two attempts");
      expect(fence.value() <= state_.lsn.value(), "fence " + std::to_string(fence.value()),
             "is ahead of the journal");
      for (const AttemptKey& attempt : attempts) of_job[attempt.job][attempt.attempt] = fence;
    }
    for (const auto& [job, attempts] : of_job) {
      const Fence* last = nullptr;
      for (const auto& [attempt, fence] : attempts) {
        expect(!last || *last < fence, name_of(AttemptKey{job, attempt}),
               "its fence is not above that of the attempt before");
        last = &fence;
      }
    }
  }

  // A gang starts as a whole: if a member started, no other waits. Waiting ones can still start.
  void check_gangs() {
    std::map<JobId, std::vector<const Job*>> gangs;
    state_.jobs.for_each([&](const JobKey&, const Job& job) {
      if (job.spec->gang) gangs[job.gang].push_back(&job);
    });
    for (const auto& [number, members] : gangs) {
      const Job& first = *members.front();
      const std::string subject = "gang " + first.spec->gang->name + " of " + name_of(first.key);
      std::uint32_t waiting = 0, started = 0, lost = 0;
      for (const Job* job : members) {
        expect(job->spec->uid == first.spec->uid && job->spec->gang == first.spec->gang, subject,
               "its members do not agree");
        started += job->attempt != AttemptNo{0} ? 1 : 0;
        if (!waits_with_gang(*job)) continue;
        waiting += members_in(*job);
        lost += job->gang_lost;
      }
      if (waiting == 0) continue;
      const GangRequest& request = *first.spec->gang;
      expect(started == 0, subject, "it has started in part");
      expect(waiting + lost <= request.size, subject, "it has more members than asked for");
      expect(lost == 0 || (request.min > 0 && lost + request.min <= request.size), subject,
             "it waits though it has lost too many");
    }
  }

  void check_indexes() {
    ClusterState again = state_;
    rebuild_indexes(again);
    expect(again.pending == state_.pending, "index", "`pending` is not what the records say");
    expect(again.dependents == state_.dependents, "index",
           "`dependents` is not what the records say");
    expect(again.timers == state_.timers, "index", "`timers` is not what the records say");
    expect(again.licenses_used == state_.licenses_used, "index",
           "`licenses_used` is not what the records say");
    expect(again.names == state_.names, "index", "`names` is not what the records say");
    expect(again.kept_nodes == state_.kept_nodes, "index",
           "`kept_nodes` is not what the records say");
    expect(again.preemption_claims == state_.preemption_claims, "index",
           "`preemption_claims` is not what the records say");
    expect(again.resumable == state_.resumable, "index", "`resumable` is not what the records say");
    expect(again.gangs == state_.gangs, "index", "`gangs` is not what the records say");
    expect(again.current_usage == state_.current_usage, "index",
           "`current_usage` is not what the records say");
    expect(again.request_ages == state_.request_ages, "index",
           "`request_ages` is not what the records say");
    expect(again.request_loads == state_.request_loads, "index",
           "`request_loads` is not what the records say");
  }

  const ClusterState& state_;
  std::set<NodeId> kept_;  // for jobs that return first
  std::vector<std::string> out_;
  std::map<Fence, std::set<AttemptKey>> fences_;
  std::set<std::pair<NodeId, AttemptKey>> charges_;
};

}  // namespace

std::vector<std::string> check_invariants(const ClusterState& state) {
  return Check(state).run();
}

}  // namespace ares::core
