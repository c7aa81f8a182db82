#include "steps/placement.h"

#include <algorithm>
#include <numeric>

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

}  // namespace

Placement::Placement(std::vector<JobNode> nodes) : nodes_(std::move(nodes)) {
  for (const JobNode& node : nodes_) busy_.emplace_back(node.cpus);
}

std::uint32_t Placement::free_cpus(std::uint32_t node) const {
  return static_cast<std::uint32_t>(std::count(busy_[node].begin(), busy_[node].end(), false));
}

// Tasks that fit on so many CPUs.
std::uint32_t Placement::room(const StepRequest& request, std::uint32_t cpus) const {
  const std::uint32_t most = request.tasks_per_node == 0 ? UINT32_MAX : request.tasks_per_node;
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
    choices.push_back({i, room(request, nodes_[i].cpus)});
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
  const std::uint64_t most = std::accumulate(
      choices.begin(), choices.end(), std::uint64_t{0},
      [&](std::uint64_t sum, const Choice& choice) { return sum + std::min(choice.room, tasks); });
  if (most < tasks)
    return fail(ErrorCode::invalid_argument,
                "the step asks for " + count_of(tasks, "task") + " of " +
                    count_of(request.task.cpus_per_task, "CPU") + ", and its nodes have room for " +
                    std::to_string(most) + "; --overcommit runs more");

  // Without --exact a step gets its nodes whole, with it the CPUs that no other step has.
  if (!request.overlap)
    for (Choice& choice : choices) {
      const std::uint32_t idle = free_cpus(choice.node);
      const bool whole = idle == nodes_[choice.node].cpus;
      choice.room = request.exact ? room(request, idle) : whole ? choice.room : 0;
    }
  std::erase_if(choices, [](const Choice& choice) { return choice.room == 0; });
  const auto must_wait = [&] {
    return fail(
        ErrorCode::failed_precondition,
        request.exact
            ? "other steps of this job have the CPUs it needs"
            : "other steps of this job run on its CPUs; with --exact a step takes only what "
              "it asks for, with --overlap it shares");
  };

  // The fewest nodes that hold it, unless it asks for a number.
  std::uint32_t wanted = request.nodes;
  if (wanted == 0) {
    std::uint64_t held = 0;
    for (const Choice& choice : choices) {
      if (held >= tasks) break;
      held += choice.room;
      ++wanted;
    }
    if (!request.wanted_nodes.empty())
      wanted = std::min(static_cast<std::uint32_t>(choices.size()), tasks);
  }
  wanted = std::min(wanted, tasks);
  if (choices.size() < wanted || choices.empty()) return must_wait();
  choices.resize(wanted);

  StepLayout layout;
  layout.tasks = tasks;
  std::vector<std::uint32_t> rooms, as_job;
  std::uint64_t job_tasks = 0;
  bool fits_as_job = true;
  for (const Choice& choice : choices) {
    layout.nodes.push_back({choice.node, nodes_[choice.node].name, {}, {}});
    rooms.push_back(choice.room);
    as_job.push_back(nodes_[choice.node].tasks);
    job_tasks += nodes_[choice.node].tasks;
    fits_as_job =
        fits_as_job && nodes_[choice.node].tasks <= choice.room && nodes_[choice.node].tasks > 0;
  }
  const std::uint64_t room_now = std::accumulate(
      rooms.begin(), rooms.end(), std::uint64_t{0},
      [&](std::uint64_t sum, std::uint32_t room) { return sum + std::min(room, tasks); });
  if (room_now < tasks) return must_wait();
  for (std::uint32_t& room : rooms) room = std::min(room, tasks);
  // The job's own layout, which the scheduler made for as many tasks.
  const std::vector<std::uint32_t> counts =
      fits_as_job && job_tasks == tasks ? as_job : share_out(tasks, rooms);
  for (std::size_t i = 0; i < counts.size(); ++i)
    layout.nodes[i].cpus = cpus_for(request, layout.nodes[i].index, counts[i]);
  number(layout, counts, request.spread);
  return layout;
}

void Placement::occupy(const StepLayout& layout) {
  for (const StepLayout::Node& node : layout.nodes)
    for (const std::uint32_t cpu : node.cpus) busy_[node.index][cpu] = true;
}

void Placement::release(const StepLayout& layout) {
  for (const StepLayout::Node& node : layout.nodes)
    for (const std::uint32_t cpu : node.cpus) busy_[node.index][cpu] = false;
}

}  // namespace ares::steps
