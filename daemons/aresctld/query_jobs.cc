#include <algorithm>
#include <set>
#include <utility>

#include "aresctld/queries.h"
#include "base/hostlist.h"
#include "base/units.h"
#include "core/sched/admit.h"
#include "core/sched/plan.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

std::int64_t micros(Time t) {
  return t.time_since_epoch().count();
}
std::int64_t micros(const std::optional<Time>& t) {
  return t ? micros(*t) : 0;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// Strings of a repeated field as a set; an empty set lets everything pass.
class AnyOf {
 public:
  template <class Field>
  explicit AnyOf(const Field& field) : words_(field.begin(), field.end()) {}
  bool passes(const std::string& word) const { return words_.empty() || words_.contains(word); }
  bool empty() const { return words_.empty(); }

 private:
  std::set<std::string> words_;
};

struct Filter {
  explicit Filter(const api::ListJobs& from)
      : users(from.users()),
        partitions(from.partitions()),
        names(from.names()),
        accounts(from.accounts()),
        nodes(from.nodes()) {}

  std::set<JobState> states;
  AnyOf users, partitions, names, accounts, nodes;

  bool passes(const ClusterState& state, const Job& job) const {
    const JobSpec& spec = *job.spec;
    if (!states.empty() && !states.contains(job.state)) return false;
    if (!users.passes(spec.user) && !users.passes(std::to_string(spec.uid.value()))) return false;
    if (!names.passes(spec.name) || !accounts.passes(spec.account)) return false;
    if (!partitions.empty() &&
        std::none_of(spec.partitions.begin(), spec.partitions.end(),
                     [&](const std::string& p) { return partitions.passes(p); }))
      return false;
    if (nodes.empty()) return true;
    return job.allocation && std::any_of(job.allocation->nodes.begin(), job.allocation->nodes.end(),
                                         [&](const NodeShare& share) {
                                           const Node* node = state.nodes.find(share.node);
                                           return node && nodes.passes(node->name);
                                         });
  }
};

void describe_request(const JobSpec& spec, api::Job& out) {
  out.set_name(spec.name);
  out.set_user(spec.user);
  out.set_uid(spec.uid.value());
  out.set_account(spec.account);
  out.set_qos(spec.qos);
  for (const auto& gpu : spec.gpus_per_node)
    out.add_gpus((gpu.type.empty() ? "" : gpu.type + ":") + std::to_string(gpu.count));
  for (const auto& gpu : spec.gpus_total)
    out.add_gpus((gpu.type.empty() ? "" : gpu.type + ":") + std::to_string(gpu.count));
}

void describe_allocation(const ClusterState& state, const Job& job, bool details, api::Job& out) {
  const Allocation& allocation = *job.allocation;
  std::vector<std::string> names;
  std::uint32_t cpus = 0;
  std::int64_t memory = 0;
  std::map<std::string, std::size_t> gpus;
  for (const NodeShare& share : allocation.nodes) {
    const Node* node = state.nodes.find(share.node);
    names.push_back(node ? node->name : "?");
    cpus += share.cpus;
    memory += share.memory.value();
    for (const GpuIndex index : share.gpus) {
      std::string type = "gpu";
      if (node)
        for (const Gpu& gpu : node->inventory.gpus)
          if (gpu.index == index) type = gpu.type;
      ++gpus[type];
    }
    if (!details) continue;
    api::NodeShare* row = out.add_shares();
    row->set_node(names.back());
    row->set_cpus(share.cpus);
    row->set_memory(share.memory.value());
    for (const GpuIndex index : share.gpus) row->add_gpus(index.value());
    switch (share.phase) {
      case SharePhase::preparing: row->set_phase("preparing"); break;
      case SharePhase::ready: row->set_phase("ready"); break;
      case SharePhase::running: row->set_phase("running"); break;
      case SharePhase::released: row->set_phase("released"); break;
      case SharePhase::fenced: row->set_phase("fenced"); break;
    }
  }
  out.set_partition(allocation.partition);
  out.set_node_count(static_cast<std::uint32_t>(allocation.nodes.size()));
  out.set_cpus(cpus);
  out.set_memory(memory);
  out.set_node_list(compress_hostlist(names));
  out.set_fence(allocation.fence.value());
  if (allocation.time_limit) out.set_time_limit(allocation.time_limit->count());
  std::string tres = "cpu=" + std::to_string(cpus) + ",mem=" + format_memory(Bytes(memory)) +
                     ",node=" + std::to_string(names.size());
  std::size_t total = 0;
  for (const auto& [type, count] : gpus) total += count;
  if (total > 0) tres += ",gres/gpu=" + std::to_string(total);
  for (const auto& [type, count] : gpus)
    if (type != "gpu") tres += ",gres/gpu:" + type + "=" + std::to_string(count);
  out.set_tres(tres);
}

// What a pending job asks for, as far as it is one number.
void describe_wish(const ClusterState& state, const Job& job, api::Job& out) {
  const JobSpec& spec = *job.spec;
  out.set_partition(join(spec.partitions));
  out.set_node_count(spec.min_nodes);
  out.set_cpus(std::max(spec.tasks * spec.cpus_per_task, spec.min_nodes));
  if (spec.memory_per_node) out.set_memory(spec.memory_per_node->value() * spec.min_nodes);
  std::optional<Seconds> limit = job.time_limit;
  if (!limit && !spec.partitions.empty())
    if (const Partition* partition = state.partitions.find(spec.partitions.front()))
      limit = partition->default_time ? partition->default_time : partition->max_time;
  if (limit && limit->count() > 0) out.set_time_limit(limit->count());
}

void describe_reason(const View& view, const Job& job, bool details, Time now, api::Job& out) {
  if (job.state != JobState::pending) {
    out.set_reason(std::string(to_string(job.reason)));
    return;
  }
  const PendingInfo* seen = view.pending->find(job.key);
  if (seen) out.set_expected_start(micros(seen->expected_start));
  if (details) {
    const PendingInfo why = core::explain(*view.state, job, now);
    out.set_reason(std::string(to_string(seen ? seen->reason : why.reason)));
    out.set_reason_detail(seen && !seen->detail.empty() ? seen->detail : why.detail);
    return;
  }
  if (const auto why = core::sched::kept_back(job))
    out.set_reason(std::string(to_string(why->reason)));
  else
    out.set_reason(std::string(to_string(seen ? seen->reason : job.reason)));
}

api::Job describe(const View& view, const Job& job, bool details, Time now) {
  const ClusterState& state = *view.state;
  api::Job out;
  proto::to_api(job.key, out.mutable_key());
  out.set_own_id(job.own_id.value());
  describe_request(*job.spec, out);
  out.set_state(std::string(to_string(job.state)));
  describe_reason(view, job, details, now, out);
  out.set_priority(job.hold == Hold::none ? job.priority : 0);
  if (job.allocation)
    describe_allocation(state, job, details, out);
  else
    describe_wish(state, job, out);
  out.set_submitted(micros(job.submitted));
  out.set_eligible(micros(job.eligible));
  out.set_started(micros(job.started));
  out.set_ended(micros(job.ended));
  out.set_attempt(job.attempt.value());
  out.set_restarts(job.restarts);
  out.set_exit_code(job.exit.code);
  out.set_exit_signal(job.exit.signal);
  if (job.array) {
    out.set_array_tasks(format_interval_set(job.array->waiting));
    out.set_array_throttle(job.array->throttle);
  }
  out.set_cause(job.cause);
  if (job.ending && job.ending->by) out.set_cancelled_by(job.ending->by->value());
  for (const Dependency& dependency : job.waiting_for) {
    api::Dependency* row = out.add_waiting_for();
    proto::to_api(dependency, row);
    row->set_any(job.spec->any_dependency);
  }
  if (details) {
    proto::to_api(*job.spec, out.mutable_spec());
    for (const NodeId id : job.excluded)
      if (const Node* node = state.nodes.find(id)) out.add_excluded(node->name);
  }
  return out;
}

// A task that waits inside its array, shown as a row of its own.
api::Job describe_waiting_task(const View& view, const Job& array, std::uint32_t index,
                               bool details, Time now) {
  api::Job out = describe(view, array, details, now);
  out.mutable_key()->set_task(index);
  out.clear_array_tasks();
  return out;
}

// Adds the rows of one record: itself, or an array's waiting tasks one by one. An array's own
// record shows while tasks wait in it, or when it never had any other row.
void add_record(const View& view, const Job& job, bool expand, bool details, Time now,
                api::Jobs& out) {
  if (!job.array) {
    *out.add_jobs() = describe(view, job, details, now);
    return;
  }
  if (job.array->waiting.empty() && !details) return;
  if (!expand || job.array->waiting.empty()) {
    *out.add_jobs() = describe(view, job, details, now);
    return;
  }
  for (const std::uint32_t index : job.array->waiting)
    *out.add_jobs() = describe_waiting_task(view, job, index, details, now);
}

// Everything that `ref` names: a job, an array with its tasks, one task (split or not), or a task
// by its own number.
bool add_named(const View& view, const Filter& filter, JobKey key, const api::ListJobs& request,
               Time now, api::Jobs& out) {
  const ClusterState& state = *view.state;
  if (!key.task.is_none()) {
    if (const Job* task = state.jobs.find(key)) {
      if (filter.passes(state, *task))
        add_record(view, *task, request.expand_arrays(), request.details(), now, out);
      return true;
    }
    const Job* array = state.jobs.find(JobKey{key.job, {}});
    if (!array || !array->array || !array->array->waiting.contains(key.task.value)) return false;
    if (filter.passes(state, *array))
      *out.add_jobs() = describe_waiting_task(view, *array, key.task.value, request.details(), now);
    return true;
  }
  bool found = false;
  state.jobs.for_each_from(JobKey{key.job, TaskIndex{0}}, [&](const JobKey& at, const Job& job) {
    if (at.job != key.job) return false;
    found = true;
    if (filter.passes(state, job))
      add_record(view, job, request.expand_arrays(), request.details(), now, out);
    return true;
  });
  if (found) return true;
  // An array task's own number lies within the range its array reserved; the array is the last
  // record before it.
  const Job* array = nullptr;
  for (std::uint64_t back = 1; back <= 100'001 && back < key.job.value() && !array; ++back)
    array = state.jobs.find(JobKey{JobId(key.job.value() - back), {}});
  if (!array || !array->spec->array) return false;
  const std::uint64_t rank = key.job.value() - array->key.job.value() - 1;
  if (rank >= array->spec->array->count()) return false;
  std::uint64_t at = 0;
  std::optional<std::uint32_t> index;
  for (const std::uint32_t i : *array->spec->array)
    if (at++ == rank) index = i;
  return index &&
         add_named(view, filter, JobKey{array->key.job, TaskIndex{*index}}, request, now, out);
}

}  // namespace

Result<api::Jobs> list_jobs(const View& view, const api::ListJobs& request, Time now) {
  Filter filter(request);
  for (const auto& name : request.states()) {
    const auto state = parse_job_state(name);
    if (!state) return fail(ErrorCode::invalid_argument, "unknown job state \"" + name + "\"");
    filter.states.insert(*state);
  }
  api::Jobs out;
  out.set_now(micros(now));
  out.set_lsn(view.state->lsn.value());
  if (request.jobs().empty()) {
    view.state->jobs.for_each([&](const JobKey&, const Job& job) {
      if (filter.passes(*view.state, job))
        add_record(view, job, request.expand_arrays(), request.details(), now, out);
    });
    return out;
  }
  for (const auto& ref : request.jobs()) {
    const auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    if (!add_named(view, filter, *key, request, now, out))
      return fail(ErrorCode::not_found,
                  "Invalid job id specified: " + std::to_string(ref.job()) +
                      (ref.has_task() ? "_" + std::to_string(ref.task()) : ""));
  }
  return out;
}

}  // namespace ares::aresctld
