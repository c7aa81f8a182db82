#include "core/sched/why/change_kinds.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/duration.h"
#include "base/saturating.h"
#include "core/cluster/time_limit.h"
#include "core/sched/index/demand.h"
#include "core/state/timers.h"
#include "model/engine/state.h"
#include "model/job/gpu_alternatives.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using ChangeKinds = std::vector<ChangeKind>;

struct ChangeContext {
  const Job& job;
  const JobSpec& spec;
  const Partition& partition;
  ClusterIndex& index;
};

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// Adds a change that has only one step.
template <class Apply>
void add_once(ChangeKinds& out, std::string text, Apply&& apply) {
  out.push_back({1, [apply](std::uint64_t, JobSpec& spec, Job&) { apply(spec); },
                 [text = std::move(text)](const Job&) { return text; }});
}

// Shorter time limits, minute by minute down to one minute. A job without a limit is tried with one
// year first. A job with time_min needs no such change, because the pass already tried shorter
// limits.
void add_time(const ChangeContext& context, ChangeKinds& out) {
  if (context.spec.time_min) return;
  constexpr minutes kYear = std::chrono::hours(24 * 365);
  const auto limit = time_limit_of(context.job, context.partition);
  const minutes most = limit ? std::chrono::ceil<minutes>(*limit) : kYear + minutes(1);
  if (most <= minutes(1)) return;
  out.push_back({static_cast<std::uint64_t>(most.count() - 1),
                 [most](std::uint64_t step, JobSpec& spec, Job& job) {
                   spec.time_limit = job.time_limit = most - minutes(step);
                 },
                 [](const Job& job) { return "--time=" + format_duration(*job.time_limit); },
                 true});
}

// Smaller sizes, in steps of one MiB, from `most` or from the requested size.
void add_sizes(ChangeKinds& out, Bytes asked, const char* option,
               std::optional<Bytes> JobSpec::*field) {
  const std::int64_t most = (asked.value() + Bytes::mib(1).value() - 1) / Bytes::mib(1).value();
  if (most <= 1) return;
  out.push_back({static_cast<std::uint64_t>(most - 1),
                 [=](std::uint64_t step, JobSpec& spec, Job&) {
                   spec.*field = Bytes::mib(most - static_cast<std::int64_t>(step));
                 },
                 [=](const Job& job) { return option + format_memory(*((*job.spec).*field)); }});
}

void add_memory(const ChangeContext& context, ChangeKinds& out) {
  const JobSpec& spec = context.spec;
  std::int64_t largest = 0;
  for (const NodeIndex at : context.index.members(context.partition))
    largest = std::max(largest, context.index.nodes()[at].total[kMemory]);
  // 0 means all memory of a node.
  const auto from = [&](Bytes asked_for) {
    return asked_for.value() == 0 ? Bytes(largest)
                                  : std::min(asked_for, Bytes(largest) + Bytes::mib(1));
  };
  if (spec.memory_per_gpu)
    add_sizes(out, from(*spec.memory_per_gpu), "--mem-per-gpu=", &JobSpec::memory_per_gpu);
  else if (spec.memory_per_node)
    add_sizes(out, from(*spec.memory_per_node), "--mem=", &JobSpec::memory_per_node);
  else if (spec.memory_per_cpu)
    add_sizes(out, from(*spec.memory_per_cpu), "--mem-per-cpu=", &JobSpec::memory_per_cpu);
  else if (context.partition.default_memory_per_cpu > Bytes{})
    add_sizes(out, from(context.partition.default_memory_per_cpu),
              "--mem-per-cpu=", &JobSpec::memory_per_cpu);
}

// Only where a node of the partition counts it.
void add_tmp_disk(const ChangeContext& context, ChangeKinds& out) {
  const auto column = context.index.tmp_disk_column();
  if (!column || context.spec.tmp_disk <= Bytes{}) return;
  std::int64_t largest = 0;
  for (const NodeIndex at : context.index.members(context.partition))
    largest = std::max(largest, context.index.nodes()[at].total[*column]);
  const std::int64_t most = std::min(whole_mebibytes(context.spec.tmp_disk), largest + 1);
  if (most <= 1) return;
  out.push_back({static_cast<std::uint64_t>(most - 1),
                 [most](std::uint64_t step, JobSpec& spec, Job&) {
                   spec.tmp_disk = Bytes::mib(most - static_cast<std::int64_t>(step));
                 },
                 [](const Job& job) { return "--tmp=" + format_memory(job.spec->tmp_disk); }});
}

void add_cpus(const ChangeContext& context, ChangeKinds& out) {
  const std::uint32_t cpus = context.spec.cpus_per_task;
  if (cpus > 1)
    out.push_back({cpus - 1,
                   [cpus](std::uint64_t step, JobSpec& spec, Job&) {
                     spec.cpus_per_task = cpus - static_cast<std::uint32_t>(step);
                     spec.cpu_thousandths_per_task = 0;
                   },
                   [](const Job& job) {
                     return "--cpus-per-task=" + std::to_string(job.spec->cpus_per_task);
                   }});
}

// If the number of tasks was the only bound on the nodes, it remains the bound.
void set_tasks(JobSpec& spec, std::uint32_t tasks) {
  if (spec.max_nodes > spec.min_nodes && spec.max_nodes == spec.tasks)
    spec.max_nodes = std::max(spec.min_nodes, tasks);
  spec.tasks = tasks;
}

void add_tasks(const ChangeContext& context, ChangeKinds& out) {
  const std::uint32_t tasks = context.spec.tasks, least = std::max(context.spec.min_nodes, 1u);
  if (tasks <= least || context.spec.node_counts) return;
  out.push_back({tasks - least,
                 [tasks](std::uint64_t step, JobSpec& spec, Job&) {
                   set_tasks(spec, tasks - static_cast<std::uint32_t>(step));
                 },
                 [](const Job& job) { return "--ntasks=" + std::to_string(job.spec->tasks); }});
}

// Fewer nodes, in steps of one segment. The number of tasks on each node stays the same if it was
// the same on all nodes.
void add_nodes(const ChangeContext& context, ChangeKinds& out) {
  const JobSpec& spec = context.spec;
  const std::uint32_t nodes = spec.min_nodes, segment = std::max(spec.segment, 1u);
  const std::uint32_t least = std::max<std::uint32_t>(
      segment,
      static_cast<std::uint32_t>((spec.required_nodes.size() + segment - 1) / segment) * segment);
  if (nodes <= least || spec.node_counts) return;
  const bool even = spec.tasks % nodes == 0;
  const std::uint32_t each = spec.tasks / nodes;
  out.push_back({(nodes - least) / segment,
                 [=](std::uint64_t step, JobSpec& to, Job&) {
                   const bool exactly = to.max_nodes == to.min_nodes;
                   to.min_nodes = nodes - static_cast<std::uint32_t>(step) * segment;
                   if (exactly) to.max_nodes = to.min_nodes;
                   if (even) set_tasks(to, each * to.min_nodes);
                 },
                 [before = spec.tasks](const Job& job) {
                   const JobSpec& to = *job.spec;
                   std::string text = "--nodes=" + std::to_string(to.min_nodes);
                   if (to.max_nodes > to.min_nodes) text += "-" + std::to_string(to.max_nodes);
                   if (to.tasks != before) text += " --ntasks=" + std::to_string(to.tasks);
                   return text;
                 }});
}

struct GpuOption {
  const char* option;
  BoxedVector<GpuRequest> JobSpec::*field;
};
constexpr GpuOption kGpuOptions[] = {{"--gpus-per-node=", &JobSpec::gpus_per_node},
                                     {"--gpus=", &JobSpec::gpus_total},
                                     {"--gpus-per-task=", &JobSpec::gpus_per_task}};

std::string gpu_text(const GpuOption& row, const std::vector<GpuRequest>& list) {
  std::vector<std::string> words;
  for (const GpuRequest& gpu : list)
    words.push_back((gpu.type.empty() ? "" : gpu.type + ":") +
                    format_thousandths(thousandths_of(gpu)));
  return row.option + joined(words, ",");
}

// For a job with alternative GPUs: one alternative alone, because the job may be able to start with
// one that is not worth its cost.
void add_one_way(const JobSpec& spec, ChangeKinds& out) {
  for (const GpuOption& row : kGpuOptions) {
    if (row.field != gpu_list(spec.alternatives_per)) continue;
    for (std::size_t i = 0; i < spec.gpu_alternatives.size(); ++i)
      add_once(out, gpu_text(row, spec.gpu_alternatives[i].gpus), [i](JobSpec& to) {
        if (i < to.gpu_alternatives.size()) to = with_alternative(JobSpec(to), i);
      });
  }
}

// Fewer GPUs of one type, for each type of a list separately; or another type.
void add_gpus(const ChangeContext& context, ChangeKinds& out) {
  if (!context.spec.gpu_alternatives.empty()) return add_one_way(context.spec, out);
  for (const GpuOption& row : kGpuOptions) {
    const auto& list = context.spec.*row.field;
    const auto text = [row](const Job& job) { return gpu_text(row, (*job.spec).*row.field); };
    for (std::size_t i = 0; i < list.size(); ++i)
      if (const std::uint32_t part = list[i].part; part > 1)
        out.push_back({part - 1,
                       [row, i, part](std::uint64_t step, JobSpec& spec, Job&) {
                         (spec.*row.field)[i].part = part - static_cast<std::uint32_t>(step);
                       },
                       text});
      else if (const std::uint32_t count = list[i].count; count > 1)
        out.push_back({count - 1,
                       [row, i, count](std::uint64_t step, JobSpec& spec, Job&) {
                         (spec.*row.field)[i].count = count - static_cast<std::uint32_t>(step);
                       },
                       text});
  }
  std::vector<const GpuOption*> used;
  for (const GpuOption& row : kGpuOptions)
    if (!(context.spec.*row.field).empty()) used.push_back(&row);
  if (used.size() != 1 || (context.spec.*used[0]->field).size() != 1) return;
  const GpuOption& row = *used[0];
  const GpuRequest& request = (context.spec.*row.field)[0];
  if (request.type.empty()) return;
  for (const std::string& type : context.index.gpu_types()) {
    if (type == request.type) continue;
    const std::vector<GpuRequest> other{{type, request.count, request.part}};
    add_once(out, gpu_text(row, other), [row, other](JobSpec& spec) { spec.*row.field = other; });
  }
}

void add_sharing(const ChangeContext& context, ChangeKinds& out) {
  if (context.spec.exclusive)
    add_once(out, "without --exclusive", [](JobSpec& spec) { spec.exclusive = false; });
  if (context.spec.exclusive_user)
    add_once(out, "without --exclusive=user", [](JobSpec& spec) { spec.exclusive_user = false; });
}

void add_places(const ChangeContext& context, ChangeKinds& out) {
  const JobSpec& spec = context.spec;
  if (!spec.features.empty())
    add_once(out, "without --constraint=" + joined(spec.features, "&"),
             [](JobSpec& to) { to.features.clear(); });
  if (!spec.required_nodes.empty())
    add_once(out, "without --nodelist=" + joined(spec.required_nodes, ","),
             [](JobSpec& to) { to.required_nodes.clear(); });
  if (!spec.excluded_nodes.empty())
    add_once(out, "without --exclude=" + joined(spec.excluded_nodes, ","),
             [](JobSpec& to) { to.excluded_nodes.clear(); });
  if (spec.node_counts)
    add_once(out, "--nodes=1-" + std::to_string(spec.max_nodes), [](JobSpec& to) {
      to.node_counts.reset();
      to.min_nodes = 1;
    });
}

// One more leaf at a time; the last step allows any number.
void add_network(const ChangeContext& context, ChangeKinds& out) {
  const JobSpec& spec = context.spec;
  if (spec.switches > 0 && spec.switches < spec.min_nodes)
    out.push_back(
        {spec.min_nodes - spec.switches,
         [most = spec.switches](std::uint64_t step, JobSpec& to, Job&) {
           to.switches = most + static_cast<std::uint32_t>(step);
         },
         [](const Job& job) { return "--switches=" + std::to_string(job.spec->switches); }});
  if (spec.segment <= 1) return;
  // Divisors of the segment size, which therefore also divide the number of nodes.
  std::vector<std::uint32_t> smaller;
  for (std::uint32_t size = spec.segment - 1; size > 0; --size)
    if (spec.segment % size == 0) smaller.push_back(size);
  out.push_back(
      {smaller.size(),
       [smaller](std::uint64_t step, JobSpec& to, Job&) { to.segment = smaller[step - 1]; },
       [](const Job& job) { return "--segment=" + std::to_string(job.spec->segment); }});
}

// Fewer of each licence separately, down to none. For a job that needs one of several licences,
// none of them.
void add_licenses(const ChangeContext& context, ChangeKinds& out) {
  const auto& list = context.spec.licenses;
  if (list.empty()) return;
  if (!context.spec.any_license)
    for (std::size_t i = 0; i < list.size(); ++i)
      out.push_back(
          {list[i].count,
           [i, count = list[i].count](std::uint64_t step, JobSpec& spec, Job&) {
             spec.licenses[i].count = count - static_cast<std::uint32_t>(step);
             if (spec.licenses[i].count == 0)
               spec.licenses.edit().erase(spec.licenses.begin() + static_cast<std::ptrdiff_t>(i));
           },
           [](const Job& job) {
             std::vector<std::string> words;
             for (const LicenseRequest& license : job.spec->licenses)
               words.push_back(license.name + ":" + std::to_string(license.count));
             return words.empty() ? "without --licenses" : "--licenses=" + joined(words, ",");
           }});
  if (context.spec.any_license || list.size() > 1)
    add_once(out, "without --licenses", [](JobSpec& spec) {
      spec.licenses.clear();
      spec.any_license = false;
    });
}

constexpr void (*kKinds[])(const ChangeContext&, ChangeKinds&) = {
    add_time,    add_memory, add_cpus,    add_tasks,    add_nodes,   add_gpus,
    add_network, add_places, add_sharing, add_licenses, add_tmp_disk};

}  // namespace

std::vector<ChangeKind> change_kinds_of(const Job& job, const Partition& partition,
                                        ClusterIndex& index) {
  ChangeKinds out;
  for (const auto add : kKinds) add({job, *job.spec, partition, index}, out);
  return out;
}

Job changed(const Job& job, const ChangeKind& kind, std::uint64_t step) {
  Job out = job;
  auto spec = std::make_shared<JobSpec>(*job.spec);
  kind.apply(step, *spec, out);
  out.spec = std::move(spec);
  return out;
}

UnblockedJob unblock(const Job& job, bool throttled, Time now) {
  UnblockedJob out{job, {}};
  auto spec = std::make_shared<JobSpec>(*job.spec);
  if (job.hold != Hold::none) {
    out.job.hold = Hold::none;
    out.texts.push_back("released");
  }
  if (job.dependency_failed || !job.waiting_for.empty()) {
    out.job.dependency_failed = false;
    out.job.waiting_for.clear();
    spec->dependencies.clear();
    out.texts.push_back("without --dependency");
  }
  if (spec->begin && *spec->begin > now) {
    spec->begin.reset();
    out.texts.push_back("without --begin");
  }
  if (deadline_is_lost(job, now)) {
    spec->deadline.reset();
    out.texts.push_back("without --deadline");
  }
  if (throttled && out.job.array) {
    spec->array_throttle = out.job.array->throttle = out.job.array->holding + 1;
    out.texts.push_back("with " + std::to_string(out.job.array->throttle) +
                        " tasks of the array at a time");
  }
  out.job.spec = std::move(spec);
  return out;
}

}  // namespace ares::core::sched
