#include "core/sched/why/wait_causes.h"

#include <algorithm>

#include "core/cluster/dead_node.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/queue/alternatives.h"
#include "core/sched/queue/reason_text.h"
#include "core/sched/why/what_if.h"

namespace ares::core::sched {
namespace {

std::string text_of(Hold hold) {
  switch (hold) {
    case Hold::none: break;
    case Hold::user: return "held by its user; actl release lets it go";
    case Hold::admin: return "held by an administrator, who alone can release it";
    case Hold::special_exit:
      return "requeued and held in the state SPECIAL_EXIT; actl release lets it go";
  }
  return "";
}

std::string_view kind_text(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::after_any: return "the end of job ";
    case DependencyKind::after_ok: return "the success of job ";
    case DependencyKind::after_not_ok: return "the failure of job ";
    case DependencyKind::after: return "the start of job ";
    case DependencyKind::after_corr: return "the same tasks of job ";
    case DependencyKind::singleton: return "earlier jobs of the same user and name";
  }
  return "job ";
}

// For example "the success of job 12, which is RUNNING".
std::string dependency_text(const ClusterState& state, const Dependency& dependency) {
  std::string text(kind_text(dependency.kind));
  if (dependency.kind == DependencyKind::singleton) return text;
  text += job_text(dependency.target);
  const Job* target = state.jobs.find(dependency.target);
  if (!target) return text;
  text += ", which is " + std::string(to_string(target->state));
  const std::vector<const Node*> lost = lost_nodes_of(state, *target);
  return lost.empty() ? text : text + " on " + lost.front()->name + ", which does not answer";
}

std::string dependencies_text(const ClusterState& state, const Job& job) {
  constexpr std::size_t kShown = 8;
  std::string text = job.spec->any_dependency ? "waits for any of: " : "waits for ";
  for (std::size_t i = 0; i < job.waiting_for.size() && i < kShown; ++i)
    text += (i > 0 ? "; " : "") + dependency_text(state, job.waiting_for[i]);
  if (job.waiting_for.size() > kShown)
    text += "; and " + std::to_string(job.waiting_for.size() - kShown) + " more";
  return text;
}

// Planned starts of other jobs on the nodes of the placement for which the job would leave too
// little.
std::vector<DelayedStart> delayed(const PassView& view, const Placement& placement,
                                  std::optional<Time> end,
                                  const std::vector<DelayedStart>& planned_starts) {
  const auto collect = [&](bool all) {
    std::vector<NodeId> nodes;
    std::vector<std::int64_t> least(view.index.stride());
    for (const PlacedShare& share : placement) {
      view.profile.min_free(share.node, view.profile.now(), end, least);
      bool lacks = all;
      for (std::size_t i = 0; i < least.size(); ++i) lacks = lacks || least[i] < share.amounts[i];
      if (lacks) nodes.push_back(view.index.nodes()[share.node].node->id);
    }
    std::vector<DelayedStart> out;
    for (const DelayedStart& planned_start : planned_starts) {
      if (end && planned_start.start >= *end) continue;
      DelayedStart one{planned_start.job, planned_start.start, {}};
      std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(one.nodes), [&](NodeId node) {
        return std::find(planned_start.nodes.begin(), planned_start.nodes.end(), node) !=
               planned_start.nodes.end();
      });
      if (!one.nodes.empty()) out.push_back(std::move(one));
    }
    return out;
  };
  auto out = collect(false);
  // The job needs the nodes exclusively.
  return out.empty() ? collect(true) : out;
}

std::string delays_text(const std::vector<DelayedStart>& planned_starts) {
  std::string text = "enough is free now, but it would delay ";
  if (planned_starts.empty()) return text + "jobs that come before it";
  text += planned_starts.size() == 1 ? "job " : "jobs ";
  for (std::size_t i = 0; i < planned_starts.size(); ++i)
    text += (i > 0 ? ", " : "") + job_text(planned_starts[i].job);
  return text + (planned_starts.size() == 1 ? ", which is" : ", which are") +
         " planned to start on nodes that it would use";
}

// The limit that a start with this placement would exceed: whole nodes, or CPUs that come with GPUs,
// can be more than what was asked for.
std::optional<WaitCause> cause_of_limits(const PassView& view, const Placement& placement,
                                         std::optional<Seconds> time_limit) {
  const JobSpec& spec = *view.entry.job->spec;
  const auto licenses = view.licenses.choose(spec);
  if (!view.use.active() || !licenses) return std::nullopt;
  const TresByNode amounts = placed_amounts(placement, *licenses, view.index);
  auto over = view.use.over(spec, *view.entry.partition, time_limit, &amounts);
  if (!over) return std::nullopt;
  return WaitCause{Reason::limit, {}, std::move(over->text),
                   std::nullopt,  {}, std::move(over->name)};
}

// The refusal of a start with this placement, by a limit or by plugins.
std::optional<WaitCause> cause_of_permit(const PassView& view, const Placement& placement,
                                         std::optional<Seconds> time_limit) {
  if (auto cause = cause_of_limits(view, placement, time_limit)) return cause;
  const Partition* partition = view.entry.partition;
  if (!view.index.plugin_classes() || !view.index.plugin_classes()->permits(*partition))
    return std::nullopt;
  TaskIndex task;
  if (const auto& array = view.entry.job->array; array && !array->waiting.empty())
    task.value = array->waiting.front();
  const ProposedStart proposed{view.entry.job, task, partition, &placement};
  const auto why = view.index.plugin_classes()->refusal({&proposed, 1}, view.index);
  if (!why) return std::nullopt;
  return WaitCause{Reason::plugin, {}, *why, std::nullopt, {}};
}

// Whether what is free now would be enough if no job had a planned start.
bool fits_outside_reservations(const PassView& view, const JobClass& job_class,
                               const AccessWindow& window, SearchBudget& work) {
  const Demand& demand = job_class.demand;
  const NodeSet all = job_class.nodes();
  if (!affected_by_reservations(demand, all, view.index)) return true;
  std::vector<NodeIndex> open;
  for (const NodeIndex at : all.nodes)
    if (view.index.reservations().admits(at, demand.access, window.from, window.to))
      open.push_back(at);
  if (!std::includes(open.begin(), open.end(), all.required.begin(), all.required.end()))
    return false;
  return fit_on(demand, {open, all.required}, view.index, CapacityBasis::free_now, work)
      .has_value();
}

// The cause in nodes, planned starts and plugins; nothing if the job starts.
std::optional<WaitCause> cause_of_nodes(const ClusterState& state, const PassView& view,
                                        const JobClass& job_class,
                                        const std::vector<DelayedStart>& planned_starts, Time now,
                                        SearchBudget& work) {
  const Job& job = *view.entry.job;
  const auto free =
      fit_on(job_class.demand, job_class.nodes(), view.index, CapacityBasis::free_now, work);
  WaitCause cause;
  if (!free) {
    const bool refused = job_class.demand.plugin_class &&
                         job_class.fits_without_plugins(view.index, CapacityBasis::free_now);
    cause.reason = refused ? Reason::plugin : Reason::resources;
    cause.text =
        explain_blocked(job_class, view.index) + "; " + explain_totals(job_class, view.index);
    return cause;
  }
  const bool by_planned_start = has_planned_start(*free, view.profile);
  auto limit = limit_at(state, job, *view.entry.partition, now);
  if (!by_planned_start && !affected_by_reservations(job_class.demand, *free, view.index))
    return cause_of_permit(view, *free, limit);
  const auto holds = [&](std::optional<Seconds> length) {
    return fit_between(job_class.demand, job_class.nodes(), view.index, view.profile, now,
                       Profile::end_of(now, length), work, JoinShared::now);
  };
  auto held = holds(limit);
  if (!held && job.spec->time_min) held = holds(limit = job.spec->time_min);
  if (held) return cause_of_permit(view, *held, limit);
  const AccessWindow window{now, Profile::end_of(now, limit)};
  if (!by_planned_start || !fits_outside_reservations(view, job_class, window, work)) {
    cause.reason = Reason::reservation;
    cause.text = explain_reserved(job_class, view.index, window);
    return cause;
  }
  cause.reason = Reason::priority;
  cause.delays = delayed(view, *free, Profile::end_of(now, limit), planned_starts);
  cause.text = delays_text(cause.delays);
  return cause;
}

// The causes for each alternative; nothing if one of them starts.
std::vector<WaitCause> causes_of_nodes(const ClusterState& state, const PassView& view,
                                       const JobClass& job_class,
                                       const std::vector<DelayedStart>& planned_starts, Time now,
                                       SearchBudget& work) {
  std::vector<WaitCause> causes;
  const auto starts_as = [&](const JobClass& one, const std::string& which) {
    auto cause = cause_of_nodes(state, view, one, planned_starts, now, work);
    if (!cause) return true;
    if (!cause->text.empty()) cause->text = which + cause->text;
    causes.push_back(*std::move(cause));
    return false;
  };
  if (job_class.alternatives.empty()) {
    starts_as(job_class, {});
    return causes;
  }
  const JobSpec& spec = *view.entry.job->spec;
  const auto limit = limit_at(state, *view.entry.job, *view.entry.partition, now);
  const auto named = [&](std::size_t i) { return to_text(spec.gpu_alternatives[i].gpus); };
  const AlternativeChoice choice = choose_alternative(
      spec, now, limit,
      [&](std::size_t i) {
        return starts_as(*job_class.alternatives[i], "with " + named(i) + ": ");
      },
      [&](std::size_t i) {
        const JobClass& one = *job_class.alternatives[i];
        return find_earliest_start(one.demand, limit, one.nodes(), view.index, view.profile, work);
      });
  if (choice.starts()) return {};
  if (choice.later)
    causes.push_back({Reason::resources,
                      {},
                      "could start now with " + named(*choice.now) + ", but that costs " +
                          format_gpu_cost(spec.gpu_alternatives[*choice.now].cost) +
                          " times its time limit, and " + named(choice.later->first) +
                          ", which is worth waiting for at a cost of " +
                          format_gpu_cost(spec.gpu_alternatives[choice.later->first].cost) +
                          ", comes free",
                      choice.later->second,
                      {}});
  return causes;
}

}  // namespace

std::vector<WaitCause> causes_of_record(const ClusterState& state, const Job& job) {
  std::vector<WaitCause> causes;
  Job rest = job;
  if (job.hold != Hold::none) {
    causes.push_back({blocked_by_record(job)->reason, {}, text_of(job.hold), std::nullopt, {}});
    rest.hold = Hold::none;
  }
  if (const auto why = blocked_by_record(rest))
    causes.push_back({why->reason,
                      {},
                      job.dependency_failed ? why->detail : dependencies_text(state, job),
                      std::nullopt,
                      {}});
  return causes;
}

WaitAnalysis analyze_view(const ClusterState& state, const PassView& view,
                          const std::vector<DelayedStart>& planned_starts, Time now,
                          std::uint64_t units) {
  const QueueEntry& entry = view.entry;
  const std::string& partition = entry.job->spec->partitions[entry.choice];
  WaitAnalysis out;
  const auto add = [&](Reason reason, std::string text, std::optional<Time> until = {}) {
    out.causes.push_back({reason, partition, std::move(text), until, {}});
  };
  for (const Admission& refusal : all_refusals(state, view.use, entry, view.starting, now)) {
    const PendingInfo& why = *refusal.refused;
    // The time at which a limit is checked again is not the time at which it permits the start.
    const auto until = why.reason == Reason::limit ? std::nullopt : refusal.wake;
    out.causes.push_back({why.reason, partition, why.detail, until, {}, why.limit});
  }
  if (!view.licenses.choose(*entry.job->spec))
    add(Reason::licenses, view.licenses.explain(*entry.job->spec));
  if (!entry.partition) return out;

  JobClasses job_classes;
  job_classes.begin_pass();
  const auto relaxed_at = relaxed_from(*entry.job);
  const bool relaxed = relaxed_at && *relaxed_at <= now;
  JobClass& job_class = job_classes.of(entry, view.index, relaxed);
  if (const PendingPtr impossible = job_classes.impossible(job_class, view.index, true)) {
    add(impossible->reason, impossible->detail);
    return out;
  }
  if (view.exhausted) add(Reason::priority, "not looked at in this pass: its budget was spent");
  if (view.closed)
    add(Reason::priority, planned_starts.empty()
                              ? "no job passes those that wait before it"
                              : "no job passes those that wait before it, first job " +
                                    job_text(planned_starts.front().job));
  SearchBudget work(units);
  for (WaitCause& cause : causes_of_nodes(state, view, job_class, planned_starts, now, work)) {
    cause.partition = partition;
    if (cause.text.empty()) {
      // That its own reservation has not begun, or is over too early, is told already.
      if (!out.causes.empty()) continue;
      cause.text = kNodesReserved;
    }
    // The request alone may already be over the same limit.
    if (cause.reason == Reason::limit &&
        std::any_of(out.causes.begin(), out.causes.end(),
                    [&](const WaitCause& known) { return known.limit == cause.limit; }))
      continue;
    if (!relaxed && relaxed_at && job_class.demand.limits.max_leaves > 0) cause.until = relaxed_at;
    out.causes.push_back(std::move(cause));
  }
  const auto limit = limit_at(state, *entry.job, *entry.partition, now);
  JobClass* chosen = &job_class;
  out.earliest = earliest_alternative(chosen, limit, [&](const JobClass& one) {
    return find_earliest_start(one.demand, limit, one.nodes(), view.index, view.profile, work);
  });
  if (out.earliest && out.earliest->at >= view.profile.horizon()) out.earliest.reset();
  return out;
}

}  // namespace ares::core::sched
