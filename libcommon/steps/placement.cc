#include "steps/placement.h"

#include <algorithm>

#include "base/printable.h"

namespace ares::steps {
namespace {

bool names(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string count_of(std::uint64_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// Tasks of each of the nodes, whose rooms are given: even, as far as there is room.
std::vector<std::uint32_t> share_out(std::uint32_t tasks, const std::vector<std::uint32_t>& rooms) {
  std::vector<std::uint32_t> counts(rooms.size());
  while (tasks > 0) {
    const auto open = static_cast<std::uint32_t>(std::count_if(
        counts.begin(), counts.end(),
        [&, i = std::size_t{0}](std::uint32_t count) mutable { return count < rooms[i++]; }));
    const std::uint32_t each = std::max<std::uint32_t>(1, tasks / std::max<std::uint32_t>(open, 1));
    for (std::size_t i = 0; i < counts.size() && tasks > 0; ++i) {
      const std::uint32_t more = std::min({each, rooms[i] - counts[i], tasks});
      counts[i] += more;
      tasks -= more;
    }
  }
  return counts;
}

// Gives each node as many ranks as its count says.
void number(StepLayout& layout, std::vector<std::uint32_t> counts, Spread spread) {
  std::uint32_t rank = 0;
  if (spread == Spread::block) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      for (; counts[i] > 0; --counts[i]) layout.nodes[i].ranks.push_back(rank++);
    return;
  }
  while (rank < layout.tasks)
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) {
        layout.nodes[i].ranks.push_back(rank++);
        --counts[i];
      }
}

bool asks_for_gpus(const StepRequest& request) {
  return request.gpus || request.gpus_per_node || request.task.gpus_per_task != 0;
}

std::uint32_t count_free(const std::vector<bool>& busy) {
  return static_cast<std::uint32_t>(std::count(busy.begin(), busy.end(), false));
}

bool any_busy(const std::vector<std::vector<bool>>& by_node) {
  return std::any_of(by_node.begin(), by_node.end(), [](const std::vector<bool>& busy) {
    return std::find(busy.begin(), busy.end(), true) != busy.end();
  });
}

std::string what_each_task_needs(const StepRequest& request) {
  std::string text = count_of(request.task.cpus_per_task, "CPU");
  if (request.task.gpus_per_task != 0)
    text += " and " + count_of(request.task.gpus_per_task, "GPU");
  if (request.gpus_per_node) text += " on nodes with " + count_of(*request.gpus_per_node, "GPU");
  return text;
}

}  // namespace

Placement::Placement(std::vector<JobNode> nodes) : nodes_(std::move(nodes)) {
  for (const JobNode& node : nodes_) {
    busy_.emplace_back(node.cpus);
    busy_gpus_.emplace_back(node.gpus);
  }
}

// Tasks that fit on so many CPUs and GPUs.
std::uint32_t Placement::room(const StepRequest& request, std::uint32_t cpus, std::uint32_t gpus) {
  std::uint32_t most = request.tasks_per_node == 0 ? UINT32_MAX : request.tasks_per_node;
  if (gpus < request.gpus_per_node.value_or(0) || (request.gpus.value_or(0) > 0 && gpus == 0))
    return 0;
  if (request.task.gpus_per_task != 0) most = std::min(most, gpus / request.task.gpus_per_task);
  if (request.overcommit) return cpus == 0 ? 0 : most;
  return std::min(most, cpus / request.task.cpus_per_task);
}

// Nodes that the request permits, whatever runs there.
Result<std::vector<Placement::Choice>> Placement::eligible(const StepRequest& request) const {
  for (const std::string& name : request.wanted_nodes)
    if (std::none_of(nodes_.begin(), nodes_.end(),
                     [&](const JobNode& node) { return node.name == name; }))
      return fail(ErrorCode::invalid_argument, quote(name) + " is not a node of this job");
  std::vector<Choice> choices;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!request.wanted_nodes.empty() && !names(request.wanted_nodes, nodes_[i].name)) continue;
    if (names(request.excluded_nodes, nodes_[i].name)) continue;
    choices.push_back({i, room(request, nodes_[i].cpus, nodes_[i].gpus), nodes_[i].gpus});
  }
  if (choices.empty())
    return fail(ErrorCode::invalid_argument, "every node of this job is excluded");
  return choices;
}

std::vector<std::uint32_t> Placement::cpus_for(const StepRequest& request, std::uint32_t node,
                                               std::uint32_t tasks) const {
  if (request.overlap) return {};
  const std::size_t wanted = request.exact && !request.overcommit
                                 ? std::size_t{tasks} * request.task.cpus_per_task
                                 : nodes_[node].cpus;
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < nodes_[node].cpus && cpus.size() < wanted; ++cpu)
    if (!busy_[node][cpu]) cpus.push_back(cpu);
  return cpus;
}

// Those that no step has; with --overlap then also others.
std::vector<std::uint32_t> Placement::gpus_for(const StepRequest& request, std::uint32_t node,
                                               std::uint32_t count) const {
  std::vector<std::uint32_t> gpus;
  for (const bool busy : {false, true})
    for (std::uint32_t gpu = 0; gpu < nodes_[node].gpus && gpus.size() < count; ++gpu)
      if (busy_gpus_[node][gpu] == busy && (!busy || request.overlap)) gpus.push_back(gpu);
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

// Keeps the fewest nodes that hold the step, or as many as it asks for. False: they do not hold it.
bool Placement::choose_nodes(const StepRequest& request, std::uint32_t tasks,
                             std::vector<Choice>& choices) {
  const std::uint64_t gpus = request.gpus.value_or(0);
  const auto hold = [&](std::size_t count) {
    std::uint64_t room = 0, devices = 0;
    for (std::size_t i = 0; i < count; ++i) {
      room += std::min(choices[i].room, tasks);
      devices += choices[i].gpus;
    }
    return room >= tasks && devices >= gpus;
  };
  std::size_t wanted = request.nodes;
  if (wanted == 0) {
    while (wanted < choices.size() && !hold(wanted)) ++wanted;
    if (!request.wanted_nodes.empty()) wanted = choices.size();
  }
  wanted = std::min<std::size_t>(wanted, tasks);
  if (wanted == 0 || choices.size() < wanted) return false;
  // The first ones, unless only others are large enough.
  if (!hold(wanted)) {
    std::stable_sort(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
      return gpus > 0 ? a.gpus > b.gpus : a.room > b.room;
    });
    if (!hold(wanted)) return false;
    const auto end = choices.begin() + static_cast<std::ptrdiff_t>(wanted);
    std::sort(choices.begin(), end,
              [](const Choice& a, const Choice& b) { return a.node < b.node; });
  }
  choices.resize(wanted);
  return true;
}

Status Placement::must_wait(const StepRequest& request) const {
  if (request.overlap || (!any_busy(busy_) && !any_busy(busy_gpus_)))
    return fail(ErrorCode::invalid_argument,
                "the nodes of this job do not hold the step as it is asked for, even when no other "
                "step runs");
  if (request.exact)
    return fail(ErrorCode::failed_precondition,
                asks_for_gpus(request) ? "other steps of this job have the CPUs or GPUs it needs"
                                       : "other steps of this job have the CPUs it needs");
  return fail(ErrorCode::failed_precondition,
              "other steps of this job run on its CPUs; with --exact a step takes only what it "
              "asks for, with --overlap it shares");
}

// False: there are too few.
bool Placement::divide_gpus(const StepRequest& request, const std::vector<std::uint32_t>& counts,
                            const std::vector<Choice>& choices, StepLayout& layout) const {
  layout.divides_gpus = asks_for_gpus(request);
  if (!layout.divides_gpus) return true;
  std::vector<std::uint32_t> wanted(counts.size());
  if (request.gpus) {
    std::vector<std::uint32_t> there;
    std::uint64_t all = 0;
    for (const Choice& choice : choices) all += there.emplace_back(choice.gpus);
    if (all < *request.gpus) return false;
    wanted = share_out(*request.gpus, there);
  } else {
    for (std::size_t i = 0; i < counts.size(); ++i)
      wanted[i] = request.gpus_per_node.value_or(counts[i] * request.task.gpus_per_task);
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (wanted[i] < counts[i] * request.task.gpus_per_task) return false;
    StepLayout::Node& node = layout.nodes[i];
    node.gpus = gpus_for(request, node.index, wanted[i]);
    if (node.gpus.size() < wanted[i]) return false;
  }
  return true;
}

Result<StepLayout> Placement::place(const StepRequest& request) const {
  Result<std::vector<Choice>> found = eligible(request);
  if (!found) return fail(found.error());
  std::vector<Choice>& choices = *found;

  std::uint32_t tasks = request.tasks;
  if (tasks == 0)
    tasks =
        request.tasks_per_node != 0
            ? request.tasks_per_node *
                  (request.nodes != 0 ? request.nodes : static_cast<std::uint32_t>(choices.size()))
            : std::max(request.nodes, std::uint32_t{1});
  if (request.nodes > choices.size())
    return fail(ErrorCode::invalid_argument,
                "the step asks for " + count_of(request.nodes, "node") + ", and this job has " +
                    std::to_string(choices.size()) + " for it");
  std::uint64_t most = 0, gpus = 0;
  for (const Choice& choice : choices) {
    most += std::min(choice.room, tasks);
    gpus += choice.gpus;
  }
  if (request.gpus.value_or(0) > gpus)
    return fail(ErrorCode::invalid_argument, "the step asks for " + count_of(*request.gpus, "GPU") +
                                                 ", and its nodes have " + std::to_string(gpus) +
                                                 " of this job");
  if (request.gpus.value_or(0) > 0 && *request.gpus < request.nodes)
    return fail(ErrorCode::invalid_argument, "the step asks for " + count_of(*request.gpus, "GPU") +
                                                 " on " + count_of(request.nodes, "node") +
                                                 ": each needs one");
  if (most < tasks)
    return fail(ErrorCode::invalid_argument, "the step asks for " + count_of(tasks, "task") +
                                                 " of " + what_each_task_needs(request) +
                                                 ", and its nodes have room for " +
                                                 std::to_string(most) + "; --overcommit runs more");

  // Without --exact a step gets its nodes whole, with it the CPUs that no other step has.
  if (!request.overlap)
    for (Choice& choice : choices) {
      const std::uint32_t idle = count_free(busy_[choice.node]);
      const bool whole = idle == nodes_[choice.node].cpus;
      choice.gpus = count_free(busy_gpus_[choice.node]);
      choice.room = request.exact || whole ? room(request, idle, choice.gpus) : 0;
    }
  std::erase_if(choices, [](const Choice& choice) { return choice.room == 0; });
  if (!choose_nodes(request, tasks, choices)) return fail(must_wait(request).error());

  StepLayout layout;
  layout.tasks = tasks;
  std::vector<std::uint32_t> rooms, as_job;
  std::uint64_t job_tasks = 0;
  bool fits_as_job = true;
  for (const Choice& choice : choices) {
    layout.nodes.push_back({choice.node, nodes_[choice.node].name, {}, {}});
    rooms.push_back(std::min(choice.room, tasks));
    as_job.push_back(nodes_[choice.node].tasks);
    job_tasks += nodes_[choice.node].tasks;
    fits_as_job =
        fits_as_job && nodes_[choice.node].tasks <= choice.room && nodes_[choice.node].tasks > 0;
  }
  // The job's own layout, which the scheduler made for as many tasks.
  const std::vector<std::uint32_t> counts =
      fits_as_job && job_tasks == tasks ? as_job : share_out(tasks, rooms);
  if (!divide_gpus(request, counts, choices, layout)) return fail(must_wait(request).error());
  for (std::size_t i = 0; i < counts.size(); ++i)
    layout.nodes[i].cpus = cpus_for(request, layout.nodes[i].index, counts[i]);
  number(layout, counts, request.spread);
  return layout;
}

void Placement::occupy(const StepLayout& layout) {
  for (const StepLayout::Node& node : layout.nodes) {
    for (const std::uint32_t cpu : node.cpus) busy_[node.index][cpu] = true;
    for (const std::uint32_t gpu : node.gpus) busy_gpus_[node.index][gpu] = true;
  }
}

void Placement::release(const StepLayout& layout) {
  for (const StepLayout::Node& node : layout.nodes) {
    for (const std::uint32_t cpu : node.cpus) busy_[node.index][cpu] = false;
    for (const std::uint32_t gpu : node.gpus) busy_gpus_[node.index][gpu] = false;
  }
}

}  // namespace ares::steps
