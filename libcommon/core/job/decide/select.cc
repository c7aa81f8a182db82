// Which jobs a selector selects.
#include <algorithm>
#include <span>

#include "core/job/decide/decision_context.h"
#include "model/policy/request_limits.h"

namespace ares::core {
namespace {

bool matches(const ClusterState& state, const JobSelector& s, const Job& job) {
  if (s.user && job.spec->uid != *s.user) return false;
  if (s.state && job.state != *s.state) return false;
  if (!s.name.empty() && job.spec->name != s.name) return false;
  if (!s.account.empty() && job.spec->account != s.account) return false;
  if (!s.qos.empty() && job.spec->qos != s.qos) return false;
  if (!s.wckey.empty() && job.spec->wckey != s.wckey) return false;
  if (!s.partition.empty()) {
    const auto& requested = job.spec->partitions;
    const bool in = job.allocation ? job.allocation->partition == s.partition
                                   : std::find(requested.begin(), requested.end(), s.partition) !=
                                         requested.end();
    if (!in) return false;
  }
  if (!s.node.empty()) {
    const NodeId* node = state.node_ids.find(s.node);
    if (!node || !job.allocation || !holds_resources(job.state)) return false;
    const auto& shares = job.allocation->nodes;
    if (std::none_of(shares.begin(), shares.end(),
                     [&](const NodeShare& x) { return x.node == *node; }))
      return false;
  }
  return true;
}

// A task's own id lies after its array's id, so the last record below `id` is the possible array.
std::optional<Target> by_own_id(const DecisionContext& q, JobId id) {
  const auto* below = q.state.jobs.last_below(JobKey{id, TaskIndex{0}});
  if (!below) return std::nullopt;
  const Job& array = *below->second;
  if (!array.key.task.is_none() || !array.spec->array) return std::nullopt;
  std::uint64_t skip = id.value() - array.key.job.value() - 1;
  for (const IntervalSet::Interval& run : array.spec->array->intervals()) {
    const std::uint64_t size = std::uint64_t{run.last} - run.first + 1;
    if (skip < size) {
      const JobKey key{array.key.job, TaskIndex{static_cast<std::uint32_t>(run.first + skip)}};
      if (const Job* task = q.state.jobs.find(key)) return Target{key, task, false, true};
      if (array.array && array.array->waiting.contains(key.task.value))
        return Target{key, &array, true, true};
      return std::nullopt;
    }
    skip -= size;
  }
  return std::nullopt;
}

class Selection {
 public:
  Selection(const DecisionContext& q, const JobSelector& selector) : q_(q), selector_(selector) {}

  void add_key(const JobKey& key) {
    const Job* record = q_.state.jobs.find(key);
    if (record && record->array) {
      add({key, record, false, true});
      add_tasks(key.job);
      return;
    }
    if (record) return add({key, record, false, true});
    if (key.task.is_none()) {
      if (const auto task = by_own_id(q_, key.job)) return add(*task);
    } else if (const Job* array = q_.state.jobs.find(JobKey{key.job, {}})) {
      if (!array->array) return miss(key, "job " + job_text(array->key) + " is not an array");
      if (array->array->waiting.contains(key.task.value)) return add({key, array, true, true});
      return miss(key, "the array has no such task, or it was cancelled");
    }
    miss(key, "Invalid job id specified");
  }

  void add_all(std::optional<UserId> only) {
    q_.state.jobs.for_each([&](const JobKey& key, const Job& job) {
      if (is_terminal(job.state)) return;
      if (only && job.spec->uid != *only) return;
      if (job.array && job.array->waiting.empty()) return;  // its tasks are visited separately
      add({key, &job, false, false});
    });
  }

  Selected take() {
    auto& targets = out_.targets;
    std::sort(targets.begin(), targets.end(),
              [](const Target& a, const Target& b) { return a.key < b.key; });
    const auto same = [](const Target& a, const Target& b) { return a.key == b.key; };
    targets.erase(std::unique(targets.begin(), targets.end(), same), targets.end());
    return std::move(out_);
  }

 private:
  void add(const Target& target) {
    if (matches(q_.state, selector_, *target.record)) out_.targets.push_back(target);
  }
  void add_tasks(JobId array) {
    q_.state.jobs.for_each_from(JobKey{array, TaskIndex{0}},
                                [&](const JobKey& key, const Job& job) {
                                  if (key.job != array) return false;
                                  if (!key.task.is_none()) add({key, &job, false, false});
                                  return true;
                                });
  }
  void miss(const JobKey& key, const std::string& why) {
    out_.missing.push_back("job " + job_text(key) + ": " + why);
  }

  const DecisionContext& q_;
  const JobSelector& selector_;
  Selected out_;
};

}  // namespace

Selected select(const DecisionContext& q, const Principal& who, const JobSelector& selector) {
  Selection selection(q, selector);
  for (const JobKey& key : selector.keys) selection.add_key(key);
  for (JobId id : selector.own_ids) selection.add_key(JobKey{id, {}});
  if (selector.keys.empty() && selector.own_ids.empty() && selector.everything) {
    // A filter selects the caller's own jobs; for operators or with a user filter, all users' jobs.
    const bool all = is_operator(q.policy, who.uid) || selector.user;
    selection.add_all(all ? std::nullopt : std::optional(who.uid));
  }
  return selection.take();
}

std::string nothing_matches(const DecisionContext& q, const Principal& who, const JobSelector& s) {
  std::string filter;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) filter += (filter.empty() ? " matches " : " ") + (name + value);
  };
  add("name=", s.name);
  add("account=", s.account);
  add("qos=", s.qos);
  add("wckey=", s.wckey);
  add("partition=", s.partition);
  add("node=", s.node);
  add("state=", s.state ? std::string(to_string(*s.state)) : "");
  add("uid=", s.user ? std::to_string(s.user->value()) : "");
  const bool own = !s.user && !is_operator(q.policy, who.uid);
  return "no job" + (own ? " of user " + who.user : std::string()) + " that has not ended" +
         (filter.empty() ? " is there" : filter);
}

namespace {

// Number of separate ranges in `waiting` without the waiting ones of `tasks`, which are ascending.
std::size_t ranges_left(const IntervalSet& waiting, std::span<const Target> tasks) {
  std::size_t left = 0;
  auto task = tasks.begin();
  for (const IntervalSet::Interval& range : waiting.intervals()) {
    std::uint64_t next = range.first;
    for (; task != tasks.end() && (!task->in_array || task->key.task.value <= range.last); ++task) {
      if (!task->in_array) continue;
      if (task->key.task.value > next) ++left;
      next = std::uint64_t{task->key.task.value} + 1;
    }
    if (next <= range.last) ++left;
  }
  return left;
}

}  // namespace

Status check_gaps(const DecisionContext& q, const Principal& who, const Selected& selected) {
  const auto end = selected.targets.end();
  for (auto task = selected.targets.begin(); task != end;) {
    const JobId id = task->key.job;
    const auto next =
        std::find_if(task, end, [&](const Target& other) { return other.key.job != id; });
    const std::span tasks(task, next);
    task = next;
    const auto in_array = std::find_if(tasks.begin(), tasks.end(),
                                       [](const Target& target) { return target.in_array; });
    if (in_array == tasks.end() || !may_act_on(q.policy, who.uid, *in_array->record)) continue;
    const IntervalSet& waiting = in_array->record->array->waiting;
    const std::size_t left = ranges_left(waiting, tasks);
    // An older release may have left more ranges; their number may still decrease.
    if (left <= std::max(kMaxArrayRanges, waiting.intervals().size())) continue;
    return fail(ErrorCode::invalid_argument,
                "job " + std::to_string(id.value()) + ": without the tasks named, " +
                    std::to_string(left) +
                    " separate ranges of its tasks would be left waiting; at most " +
                    std::to_string(kMaxArrayRanges) +
                    " are allowed: name tasks that follow one another, or the whole array");
  }
  return {};
}

std::string job_text(const JobKey& key) {
  std::string text = std::to_string(key.job.value());
  if (!key.task.is_none()) text += "_" + std::to_string(key.task.value);
  return text;
}

TaskSplit split(const Target& target) {
  return TaskSplit{target.key, task_rank(*target.record, target.key.task)};
}

}  // namespace ares::core
