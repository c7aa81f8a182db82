#include "steps/manager.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/clip.h"
#include "base/printable.h"

namespace ares::steps {
namespace {

// Of the exchanges of one step that are going on.
constexpr std::size_t kMostExchanges = 1024;

constexpr std::int64_t kMostAmount = std::int64_t{1} << 52;  // so that no sum overflows

std::string name_of(const StepRequest& request) {
  if (!request.name.empty()) return request.name;
  const std::vector<std::string>& arguments = request.task.arguments;
  return arguments.empty() ? std::string() : arguments[0].substr(arguments[0].rfind('/') + 1);
}

// What comes from launchers is checked: they run as the job's user.
void add(TaskEnd& sum, const TaskEnd& one) {
  const auto checked = [](std::int64_t value) {
    return std::clamp<std::int64_t>(value, 0, kMostAmount);
  };
  const auto plus = [&](std::int64_t a, std::int64_t b) { return checked(a + checked(b)); };
  sum.user_cpu = Duration(plus(sum.user_cpu.count(), one.user_cpu.count()));
  sum.system_cpu = Duration(plus(sum.system_cpu.count(), one.system_cpu.count()));
  sum.disk_read = plus(sum.disk_read, one.disk_read);
  sum.disk_written = plus(sum.disk_written, one.disk_written);
  sum.max_rss = std::max(sum.max_rss, checked(one.max_rss));
}

// How a step ended whose tasks have ended.
StepState end_state(const StepAccount& known) {
  if (known.cancelled) return StepState::cancelled;
  if (known.timed_out) return StepState::timeout;
  if (known.worst.out_of_memory) return StepState::out_of_memory;
  return exit_code(known.worst) != 0 ? StepState::failed : StepState::completed;
}

}  // namespace

StepManager::StepManager(std::vector<JobNode> nodes, StepLinks& links)
    : placement_(std::move(nodes)), links_(links) {}

const std::set<ClientId>& StepManager::viewers_of(StepNumber step) const {
  static const std::set<ClientId> kNone;
  const auto it = steps_.find(step);
  return it == steps_.end() ? kNone : it->second.viewers;
}

std::optional<ClientId> StepManager::client_of(StepNumber step) const {
  const auto it = steps_.find(step);
  return it == steps_.end() ? std::nullopt : std::optional(it->second.client);
}

void StepManager::from_client(ClientId client, const Frame& frame) {
  if (const auto viewed = viewing_.find(client); viewed != viewing_.end())
    return from_viewer(viewed->second, frame);
  const auto known = by_client_.find(client);
  if (known == by_client_.end()) {
    const bool waits = std::any_of(waiting_.begin(), waiting_.end(),
                                   [&](const Waiting& w) { return w.client == client; });
    // A signal to a step that waits: there is nothing that could get it, so the step is given up.
    if (waits && frame.kind == FrameKind::signal) {
      std::erase_if(waiting_, [&](const Waiting& w) { return w.client == client; });
      return refuse(client, "given up while it waited");
    }
    if (waits && frame.kind != FrameKind::create) return;
    if (!waits && frame.kind == FrameKind::attach) return attach(client, frame.number);
    if (waits || frame.kind != FrameKind::create)
      return refuse(client, "the first message must ask for a step");
    Result<StepRequest> request = decode_request(frame.payload);
    if (!request) return refuse(client, request.error().message);
    return create(client, std::move(*request));
  }
  const StepNumber number = known->second;
  Step& step = steps_.at(number);
  switch (frame.kind) {
    case FrameKind::signal:
      if (!step.went) return fail_step(number, "given up before its tasks began");
      for (const Member& member : step.members)
        if (!member.over) links_.to_node(number, member.node, frame);
      break;
    case FrameKind::input:
    case FrameKind::window_size: pass_input(step, number, frame); break;
    default: break;  // of a later release
  }
}

void StepManager::pass_input(Step& step, StepNumber number, const Frame& frame) {
  for (std::size_t i = 0; i < step.members.size(); ++i) {
    const std::vector<std::uint32_t>& ranks = step.layout.nodes[i].ranks;
    const bool here = frame.kind == FrameKind::window_size || frame.number == kAllRanks ||
                      std::find(ranks.begin(), ranks.end(), frame.number) != ranks.end();
    if (here && !step.members[i].over) links_.to_node(number, step.members[i].node, frame);
  }
}

// aattach joins a step that runs.
void StepManager::attach(ClientId client, StepNumber number) {
  const auto it = steps_.find(number);
  if (it == steps_.end() || !it->second.went)
    return refuse(client, "step " + std::to_string(number) + " of this job does not run");
  it->second.viewers.insert(client);
  viewing_[client] = number;
  links_.to_client(client, {FrameKind::created, number, encode(it->second.layout)});
  for (const std::uint32_t rank : it->second.full)
    links_.to_client(client, {FrameKind::input_full, rank, "1"});
}

// Its input goes to the tasks as well. The end of it is that of the viewer alone.
void StepManager::from_viewer(StepNumber number, const Frame& frame) {
  if (frame.kind == FrameKind::input && !frame.payload.empty())
    pass_input(steps_.at(number), number, frame);
}

void StepManager::tell_viewers(const Step& step, const Frame& frame) {
  for (const ClientId viewer : step.viewers) links_.to_client(viewer, frame);
}

void StepManager::create(ClientId client, StepRequest request) {
  // Steps that came before it have their turn first, unless it takes nothing.
  const bool queue = !request.overlap && !waiting_.empty();
  if (!queue && try_start(client, request)) return;
  if (request.immediate)
    return refuse(client, "other steps of this job have the CPUs it needs (--immediate)");
  const Result<StepLayout> now = placement_.place(request);
  if (!now && now.error().code != ErrorCode::failed_precondition)
    return refuse(client, now.error().message);
  links_.to_client(
      client, {FrameKind::waits, 0,
               now ? std::string("other steps of this job are before it") : now.error().message});
  waiting_.push_back({client, std::move(request)});
}

// Whether the request is settled: the step begins, or is refused.
bool StepManager::try_start(ClientId client, const StepRequest& request) {
  Result<StepLayout> layout = placement_.place(request);
  if (!layout) {
    if (layout.error().code == ErrorCode::failed_precondition) return false;
    refuse(client, layout.error().message);
    return true;
  }
  const Result<StepNumber> number = links_.new_number();
  if (!number) {
    refuse(client, number.error().message);
    return true;
  }
  Step step;
  step.client = client;
  step.request = request;
  step.layout = std::move(*layout);
  step.layout.terminal = request.task.pty;
  step.tasks_left = step.layout.tasks;
  step.account.number = *number;
  step.account.name = name_of(request);
  step.account.tasks = step.layout.tasks;
  for (const StepLayout::Node& node : step.layout.nodes) {
    step.account.nodes.push_back(node.index);
    step.account.cpus += node.cpus.empty() ? placement_.nodes()[node.index].cpus
                                           : static_cast<std::uint32_t>(node.cpus.size());
  }
  std::sort(step.account.nodes.begin(), step.account.nodes.end());
  for (const StepLayout::Node& node : step.layout.nodes)
    step.members.emplace_back().node = node.index;
  if (!request.overlap) placement_.occupy(step.layout);
  const auto it = steps_.emplace(*number, std::move(step)).first;
  by_client_[client] = *number;
  NodeLaunch launch{*number,         0, links_.name_of(*number), it->second.layout, request.task,
                    name_of(request)};
  // Copied: a node that cannot be reached at once ends the step.
  const std::vector<Member> members = it->second.members;
  for (; launch.node < members.size() && steps_.contains(*number); ++launch.node) {
    links_.open_node(*number, members[launch.node].node);
    links_.to_node(*number, members[launch.node].node, {FrameKind::launch, 0, encode(launch)});
  }
  return true;
}

void StepManager::refuse(ClientId client, const std::string& why) {
  links_.to_client(client, {FrameKind::refused, 0, why});
  links_.close_client(client);
}

void StepManager::start_waiting() {
  while (!waiting_.empty()) {
    const Waiting first = waiting_.front();
    if (!try_start(first.client, first.request)) return;
    waiting_.erase(waiting_.begin());
  }
}

std::optional<std::uint32_t> StepManager::place_of(const Step& step, std::uint32_t node) {
  for (std::uint32_t i = 0; i < step.members.size(); ++i)
    if (step.members[i].node == node) return i;
  return std::nullopt;
}

void StepManager::from_node(StepNumber number, std::uint32_t node, const Frame& frame) {
  const auto it = steps_.find(number);
  if (it == steps_.end()) return;
  Step& step = it->second;
  const std::optional<std::uint32_t> place = place_of(step, node);
  if (!place) return;
  Member& from = step.members[*place];
  switch (frame.kind) {
    case FrameKind::ready:
      from.ready = true;
      if (!step.went) set_ready(number, step);
      break;
    case FrameKind::refused:
      fail_step(number, placement_.nodes()[node].name + ": " + frame.payload);
      break;
    case FrameKind::output:
    case FrameKind::errors:
      links_.to_client(step.client, frame);
      for (const ClientId viewer : step.viewers) links_.to_viewer(viewer, frame);
      break;
    case FrameKind::input_full:
      if (frame.payload == "1" && frame.number < step.layout.tasks)
        step.full.insert(frame.number);
      else
        step.full.erase(frame.number);
      links_.to_client(step.client, frame);
      tell_viewers(step, frame);
      break;
    case FrameKind::ended: task_ended(step, number, from, frame); break;
    case FrameKind::usage:
      if (const Result<TaskEnd> used = decode_end(frame.payload);
          used && step.went && step.tasks_left > 0) {
        from.running = *used;
        account(step, StepState::running);
      }
      break;
    case FrameKind::over:
      from.over = true;
      end_if_over(number);
      break;
    case FrameKind::contribute: contribute(step, number, *place, frame); break;
    case FrameKind::question: ask(step, number, *place, frame); break;
    case FrameKind::answer: answer(step, number, frame); break;
    case FrameKind::abort:
      links_.to_client(step.client, frame);
      tell_viewers(step, frame);
      kill_tasks(step, number);
      break;
    default: break;  // of a later release
  }
}

// Tells the launchers to go once all of them are ready.
void StepManager::set_ready(StepNumber number, Step& step) {
  if (!std::all_of(step.members.begin(), step.members.end(),
                   [](const Member& member) { return member.ready; }))
    return;
  step.went = true;
  account(step, StepState::running);
  links_.to_client(step.client, {FrameKind::created, number, encode(step.layout)});
  for (const Member& member : step.members)
    links_.to_node(number, member.node, {FrameKind::go, 0, {}});
  links_.limit_time(number, Seconds(step.request.time_limit));
}

void StepManager::task_ended(Step& step, StepNumber number, Member& member, const Frame& frame) {
  const Result<TaskEnd> end = decode_end(frame.payload);
  if (!end || step.tasks_left == 0) return;
  --step.tasks_left;
  member.running = {};  // it tells again what the others have used
  StepAccount& known = step.account;
  if (exit_code(*end) > exit_code(known.worst)) known.worst = *end;
  if (end->max_rss > known.used.max_rss) known.max_rss_node = member.node;
  add(known.used, *end);
  if (member.node == 0) add(known.on_first, *end);
  known.sum_rss = std::clamp<std::int64_t>(
      known.sum_rss + std::clamp<std::int64_t>(end->max_rss, 0, kMostAmount), 0, kMostAmount);
  // Before the client is told of the last end: it may leave then, and the job may end with it.
  account(step, step.tasks_left == 0 ? end_state(known) : StepState::running);
  links_.to_client(step.client, frame);
  tell_viewers(step, frame);
  if (step.request.kill_on_bad_exit && exit_code(*end) != 0) kill_tasks(step, number);
}

void StepManager::account(const Step& step, StepState state) {
  StepAccount told = step.account;
  told.state = state;
  for (const Member& member : step.members) {
    if (member.running.max_rss > told.used.max_rss) told.max_rss_node = member.node;
    add(told.used, member.running);
    if (member.node == 0) add(told.on_first, member.running);
  }
  links_.account(told);
}

void StepManager::cancel(const StepCancel& cancel) {
  const auto it = steps_.find(cancel.step);
  if (it == steps_.end()) return;
  Step& step = it->second;
  const bool ends = cancel.signal == 0;
  if (ends || cancel.signal == SIGKILL) {
    step.account.cancelled = true;
    if (!step.account.cancelled_by) step.account.cancelled_by = cancel.by;
  }
  if (!step.went) {
    if (ends || cancel.signal == SIGKILL || cancel.signal == SIGTERM)
      fail_step(cancel.step, "cancelled before its tasks began");
    return;
  }
  if (!ends) return signal_tasks(step, cancel.step, cancel.signal);
  end_gently(step, cancel.step);
}

void StepManager::signal_tasks(const Step& step, StepNumber number, std::int32_t signal) {
  const Frame frame{FrameKind::signal, static_cast<std::uint32_t>(signal), {}};
  for (const Member& member : step.members)
    if (!member.over) links_.to_node(number, member.node, frame);
}

void StepManager::end_gently(const Step& step, StepNumber number) {
  signal_tasks(step, number, SIGCONT);
  signal_tasks(step, number, SIGTERM);
  links_.kill_later(number);
}

void StepManager::time_out(StepNumber number) {
  const auto it = steps_.find(number);
  if (it == steps_.end() || it->second.tasks_left == 0)
    return;  // only its output is still to be read
  if (std::exchange(it->second.account.timed_out, true)) return;
  const Frame why{FrameKind::abort, 0,
                  "step " + std::to_string(number) + " is ended: it has reached its time limit"};
  links_.to_client(it->second.client, why);
  tell_viewers(it->second, why);
  end_gently(it->second, number);
}

Status StepManager::set_limit(StepNumber number, Seconds limit) {
  const auto it = steps_.find(number);
  if (it == steps_.end() || it->second.tasks_left == 0)
    return fail(ErrorCode::failed_precondition,
                "step " + std::to_string(number) + " of this job does not run");
  Step& step = it->second;
  if (step.account.timed_out || step.account.cancelled)
    return fail(ErrorCode::failed_precondition,
                "step " + std::to_string(number) + " of this job is being ended");
  step.request.time_limit = static_cast<std::uint32_t>(limit.count());
  if (step.went) links_.limit_time(number, limit);
  return {};
}

void StepManager::kill(StepNumber number) {
  const auto it = steps_.find(number);
  if (it != steps_.end()) kill_tasks(it->second, number);
}

// All nodes that take part add to an exchange before any gets the whole. What makes no sense is dropped:
// it comes from the user's own processes, which then wait for ever.
void StepManager::contribute(Step& step, StepNumber number, std::uint32_t from,
                             const Frame& frame) {
  Result<Contribution> added = decode_contribution(frame.payload);
  if (!added) return;
  const auto known = step.exchanges.find(added->name);
  if (known == step.exchanges.end() && step.exchanges.size() >= kMostExchanges) return;
  Exchange& exchange = known == step.exchanges.end() ? step.exchanges[added->name] : known->second;
  if (exchange.nodes.empty()) {
    exchange.nodes = std::move(added->nodes);
    if (exchange.nodes.empty())
      for (std::uint32_t i = 0; i < step.members.size(); ++i) exchange.nodes.push_back(i);
    std::erase_if(exchange.nodes, [&](std::uint32_t n) { return n >= step.members.size(); });
  }
  exchange.parts[from] = std::move(added->data);
  if (!std::all_of(exchange.nodes.begin(), exchange.nodes.end(),
                   [&](std::uint32_t n) { return exchange.parts.contains(n); }))
    return;
  Gathered gathered{added->name, {}};
  for (const std::uint32_t n : exchange.nodes)
    gathered.parts.push_back(std::move(exchange.parts[n]));
  const std::vector<std::uint32_t> nodes = std::move(exchange.nodes);
  step.exchanges.erase(added->name);
  const Frame whole{FrameKind::gather, 0, encode(gathered)};
  for (const std::uint32_t n : nodes) links_.to_node(number, step.members[n].node, whole);
}

void StepManager::ask(Step& step, StepNumber number, std::uint32_t from, const Frame& frame) {
  Result<Question> question = decode_question(frame.payload);
  if (!question) return;
  question->from = from;
  for (std::size_t i = 0; i < step.layout.nodes.size(); ++i) {
    const std::vector<std::uint32_t>& ranks = step.layout.nodes[i].ranks;
    if (std::find(ranks.begin(), ranks.end(), question->rank) != ranks.end())
      return links_.to_node(number, step.members[i].node,
                            {FrameKind::question, 0, encode(*question)});
  }
  links_.to_node(number, step.members[from].node,
                 {FrameKind::answer, 0, encode(Answer{question->id, from, false, {}})});
}

void StepManager::answer(Step& step, StepNumber number, const Frame& frame) {
  const Result<Answer> answer = decode_answer(frame.payload);
  if (answer && answer->from < step.members.size())
    links_.to_node(number, step.members[answer->from].node, frame);
}

void StepManager::kill_tasks(Step& step, StepNumber number) {
  if (std::exchange(step.killed, true)) return;
  for (const Member& member : step.members)
    if (!member.over) links_.to_node(number, member.node, {FrameKind::signal, SIGKILL, {}});
}

// Ends a step whose tasks have not begun, or that lost a node.
void StepManager::fail_step(StepNumber number, const std::string& why) {
  const auto it = steps_.find(number);
  if (it == steps_.end()) return;
  links_.to_client(it->second.client, {FrameKind::refused, 0, why});
  tell_viewers(it->second, {FrameKind::refused, 0, why});
  end(number, it->second.account.cancelled ? StepState::cancelled : StepState::failed);
}

void StepManager::node_lost(StepNumber number, std::uint32_t node, const std::string& why) {
  const auto it = steps_.find(number);
  if (it == steps_.end()) return;
  const std::optional<std::uint32_t> place = place_of(it->second, node);
  if (!place || it->second.members[*place].over) return;
  fail_step(number, "node " + placement_.nodes()[node].name + " was lost: " + why);
}

void StepManager::client_lost(ClientId client) {
  if (const auto viewed = viewing_.find(client); viewed != viewing_.end()) {
    steps_.at(viewed->second).viewers.erase(client);
    viewing_.erase(viewed);
    return;
  }
  std::erase_if(waiting_, [&](const Waiting& w) { return w.client == client; });
  const auto it = by_client_.find(client);
  if (it == by_client_.end()) return;
  // It may leave as soon as it knows that all tasks have ended.
  const bool ended = steps_.at(it->second).tasks_left == 0;
  end(it->second, ended ? std::nullopt : std::optional(StepState::cancelled));
}

void StepManager::end_if_over(StepNumber number) {
  const auto it = steps_.find(number);
  const std::vector<Member>& members = it->second.members;
  if (!std::all_of(members.begin(), members.end(), [](const Member& m) { return m.over; })) return;
  links_.to_client(it->second.client, {FrameKind::over, number, {}});
  tell_viewers(it->second, {FrameKind::over, number, {}});
  end(number);
}

// Nothing of the step is left here when this returns.
void StepManager::end(StepNumber number, std::optional<StepState> as) {
  const auto it = steps_.find(number);
  if (it->second.went && it->second.tasks_left > 0)
    account(it->second, as.value_or(end_state(it->second.account)));
  const Step step = std::move(it->second);
  steps_.erase(it);
  by_client_.erase(step.client);
  if (!step.request.overlap) placement_.release(step.layout);
  for (const Member& member : step.members) links_.close_node(number, member.node);
  links_.close_client(step.client);
  for (const ClientId viewer : step.viewers) {
    viewing_.erase(viewer);
    links_.close_client(viewer);
  }
  start_waiting();
}

}  // namespace ares::steps
