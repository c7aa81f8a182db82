#include "sim/clients.h"

#include <algorithm>
#include <utility>

#include "sim/controller.h"
#include "sim/observer.h"
#include "sim/world.h"

namespace ares::sim {
namespace {

Principal person(std::uint32_t uid) {
  Principal who;
  who.uid = UserId(uid);
  who.gid = GroupId(uid);
  who.user = "u" + std::to_string(uid);
  who.host = "login";
  return who;
}

constexpr std::uint32_t kUser = 1000;
constexpr std::uint32_t kAdmin = 0;

BlobId blob_id(std::uint64_t number) {
  BlobId id{};
  for (std::size_t i = 0; i < 8; ++i) id[i] = static_cast<std::uint8_t>(number >> (8 * i));
  id[31] = 1;
  return id;
}

}  // namespace

JobSpec Clients::plain_job() {
  JobSpec spec;
  spec.name = "job";
  spec.uid = UserId(kUser);
  spec.gid = GroupId(kUser);
  spec.user = "u1000";
  spec.account = "default";
  spec.partitions = {"main"};
  spec.submit_dir = spec.work_dir = "/home/u1000";
  return spec;
}

std::uint64_t Clients::add(UserCommand command) {
  const std::uint64_t number = operations_.size();
  command.request_id = "request-" + std::to_string(number);
  for (std::size_t i = 0; i < 8; ++i)
    command.digest[i] = static_cast<std::uint8_t>((number + 1) >> (8 * i));
  Operation operation;
  operation.command = std::move(command);
  operations_.push_back(std::move(operation));
  return number;
}

std::uint64_t Clients::submit(Instant when, JobSpec spec, Program program) {
  spec.arguments = to_arguments(program);
  spec.script = blob_id(2 * submissions_ + 1);
  spec.environment = blob_id(2 * submissions_ + 2);
  UserCommand command;
  command.who = person(spec.uid.value());
  Submit submit;
  submit.blobs = {{spec.script, std::make_shared<const std::string>("#!/bin/sh\nrun\n")},
                  {spec.environment, std::make_shared<const std::string>("A=1")}};
  submit.spec = std::make_shared<const JobSpec>(std::move(spec));
  command.body = std::move(submit);
  const std::uint64_t number = add(std::move(command));
  ++submissions_;
  submitted_.push_back(number);
  stage_.timeline.at(when, Timeline::world(), [this, number] { send(number); });
  return number;
}

std::uint64_t Clients::act(Instant when, std::uint64_t submission, UserBody body) {
  UserCommand command;
  command.who = person(kAdmin);
  command.body = std::move(body);
  const std::uint64_t number = add(std::move(command));
  operations_[number].operates_on_job = true;
  operations_[number].submission = submission;
  stage_.timeline.at(when, Timeline::world(), [this, number] { send(number); });
  return number;
}

void Clients::found_account(Instant when, const std::optional<Limits>& limits) {
  const JobSpec job = plain_job();
  Account account;
  account.name = job.account;
  account.parent = kRootAccount;
  if (limits) account.terms.limits = *limits;
  Qos of_partition;
  of_partition.name = kPartitionQos;
  User user;
  user.name = job.user;
  user.default_account = job.account;
  Association member;
  member.key = {job.account, job.user, {}};
  using Verb = AccountingChange::Verb;
  UserCommand command;
  command.who = person(kAdmin);
  command.body = ChangeAccounting{{{Verb::add, account, {}},
                                   {Verb::add, user, {}},
                                   {Verb::add, member, {}},
                                   {Verb::add, of_partition, {}}}};
  const std::uint64_t number = add(std::move(command));
  stage_.timeline.at(when, Timeline::world(), [this, number] { send(number); });
}

void Clients::plan_operation(Instant when) {
  if (submitted_.empty() || stage_.random.percent(60))
    random_submission(when);
  else
    random_action(when);
}

void Clients::random_submission(Instant when) {
  Random& random = stage_.random;
  JobSpec spec = plain_job();
  Program program;
  const auto length = random.below(100);
  program.runs = length < 45   ? random.between(Duration(50ms), Duration(2s))
                 : length < 75 ? random.between(Duration(2s), Duration(15s))
                               : random.between(Duration(25s), Duration(60s));
  if (random.percent(20)) program.exit_code = static_cast<std::int32_t>(random.between(1, 3));
  program.ignores_term = random.percent(20);
  spec.cpus_per_task = static_cast<std::uint32_t>(random.between(1, 4));
  spec.requeue = random.percent(70);
  spec.hold = random.percent(5);
  if (random.percent(2)) spec.uid = UserId(4711);  // a user that does not exist on the nodes
  if (random.percent(20)) spec.time_limit = Seconds(random.between(1, 8));
  const auto shape = random.below(100);
  if (shape < 25) {
    spec.min_nodes = spec.max_nodes = spec.tasks = 2;
    spec.tasks_per_node = 1;
  } else if (shape < 40) {
    IntervalSet tasks;
    tasks.insert(1, static_cast<std::uint32_t>(random.between(1, 3)));
    spec.array = tasks;
  } else if (shape < 55 && !submitted_.empty()) {
    // The target is a job whose submission was acknowledged by then: see send().
    Dependency dependency;
    dependency.kind = static_cast<DependencyKind>(random.below(4));
    spec.dependencies = {dependency};
  } else if (shape >= 92) {  // a pair, or three of which one may be lost
    spec.gang = shape < 96 ? GangRequest{"pair", 2, 0, Seconds{10}}
                           : GangRequest{"three", 3, 2, Seconds{15}};
  }
  if (world_.has_tiers() && submissions_ % 4 == 3) spec.partitions = {"high"};
  submit(when, std::move(spec), program);
}

// The file is edited and applied; the next controller starts with the original one.
Reconfigure Clients::other_lease() {
  Policy policy = *world_.policy();
  policy.lease = Seconds(stage_.random.between(11, 60));
  policy.config_hash += static_cast<std::uint64_t>(policy.lease.count());
  Reconfigure edited{world_.configuration(), nullptr};
  edited.config.hash = policy.config_hash;
  edited.config.lease = policy.lease;
  edited.policy = std::make_shared<const Policy>(std::move(policy));
  return edited;
}

void Clients::random_action(Instant when) {
  Random& random = stage_.random;
  const std::uint64_t target = submitted_[random.below(submitted_.size())];
  switch (random.below(11)) {
    case 0:
    case 1: {
      Cancel cancel;
      if (random.percent(20)) cancel.signal = 10;
      act(when, target, cancel);
      break;
    }
    case 2: act(when, target, HoldJobs{}); break;
    case 3: act(when, target, ReleaseJobs{}); break;
    case 4:
    case 5: act(when, target, RequeueJobs{.jobs = {}, .hold = random.percent(10)}); break;
    case 6: {
      UpdateJob update;
      if (random.percent(50)) {
        update.set_time_limit = true;
        update.time_limit = Seconds(random.between(1, 20));
      } else {
        JobSpec values;
        values.nice = static_cast<std::int32_t>(random.below(100));
        values.begin = Time{Seconds(random.between(1, 30))};
        values.comment = "changed";
        update.fields = {"nice", random.percent(50) ? "begin" : "comment"};
        if (random.percent(30)) update.fields.emplace_back("dependencies");  // clears them
        update.values = std::make_shared<const JobSpec>(std::move(values));
      }
      act(when, target, update);
      break;
    }
    case 7: act(when, target, other_lease()); break;
    case 8: act(when, target, SuspendJobs{}); break;
    case 9: act(when, target, ResumeJobs{}); break;
    default: {
      UpdateNode update;
      update.names = {
          world_.machine(static_cast<std::uint32_t>(random.below(world_.machines()))).name()};
      update.admin = random.percent(50) ? AdminState::drain : AdminState::up;
      update.reason = "a person wanted it";
      act(when, target, update);
      break;
    }
  }
}

std::optional<JobKey> Clients::job_of(std::uint64_t submission) const {
  const Operation& operation = operations_[submission];
  if (!operation.answered || operation.reply.failed || operation.reply.jobs.empty()) return {};
  return operation.reply.jobs.front();
}

// Sends repeatedly until a reply comes.
void Clients::send(std::uint64_t number) {
  Operation& operation = operations_[number];
  if (operation.answered) return;
  if (operation.operates_on_job) {
    const auto key = job_of(operation.submission);
    const UserBody& body = operation.command.body;
    const bool about_jobs =
        !std::holds_alternative<UpdateNode>(body) && !std::holds_alternative<Reconfigure>(body);
    if (!key && about_jobs) {
      operation.answered = true;  // nothing to act on
      operation.reply.failed = true;
      return;
    }
    std::visit(
        [&](auto& chosen) {
          if constexpr (requires { chosen.jobs.keys; })
            if (chosen.jobs.keys.empty()) chosen.jobs.keys = {*key};
        },
        operation.command.body);
  } else if (auto* submit = std::get_if<Submit>(&operation.command.body);
             submit && !submit->spec->dependencies.empty() &&
             submit->spec->dependencies.front().target.job.value() == 0) {
    // The same request must keep its content: the target is chosen once.
    JobSpec spec = *submit->spec;
    std::optional<JobKey> target;
    for (const std::uint64_t candidate : submitted_)
      if (candidate != number && job_of(candidate)) target = job_of(candidate);
    if (target)
      spec.dependencies.front().target = *target;
    else
      spec.dependencies.clear();
    submit->spec = std::make_shared<const JobSpec>(std::move(spec));
  }
  if (!stage_.random.per_mille(world_.lost_calls()))
    stage_.timeline.after(stage_.soon(), Timeline::world(), [this, number] { deliver(number); });
  stage_.timeline.after(stage_.random.between(Duration(1s), Duration(5s)), Timeline::world(),
                        [this, number] { send(number); });
}

void Clients::deliver(std::uint64_t number) {
  if (Controller* controller = world_.endpoint()) {
    const UserCommand& command = operations_[number].command;
    stage_.timeline.after(Duration(10us), controller->life(),
                          [controller, command, number] { controller->request(command, number); });
  }
}

void Clients::answered(std::uint64_t number, const core::Reply& reply) {
  if (stage_.random.per_mille(world_.lost_calls())) return;
  stage_.timeline.after(stage_.soon(), Timeline::world(), [this, number, reply] {
    Operation& operation = operations_[number];
    if (reply.failed && reply.error.code == ErrorCode::unavailable) return;
    stage_.note("answer", number, reply.jobs.size(), [&] {
      return operation.command.request_id + (reply.failed ? ": " + reply.error.message : "");
    });
    if (operation.answered) {
      // A refusal that changed nothing is not recorded: a repeated request may be granted.
      if (operation.reply.failed || reply.failed) return;
      const std::vector<JobKey>& jobs = operation.reply.jobs;
      const bool gone = !jobs.empty() && world_.observer().is_gone(jobs.front());
      if (jobs != reply.jobs && !gone)
        throw Violation{"two answers to " + operation.command.request_id + " differ"};
      return;
    }
    operation.answered = true;
    operation.reply = reply;
    if (!reply.failed && std::holds_alternative<Submit>(operation.command.body)) {
      if (reply.jobs.size() != 1) throw Violation{"a submission was answered without its job"};
      world_.observer().acknowledged(reply.jobs.front());
    }
    // A user who did not see the reply asks again.
    if (stage_.random.percent(10))
      stage_.timeline.after(stage_.random.between(Duration(1ms), Duration(10s)), Timeline::world(),
                            [this, number] { deliver(number); });
  });
}

bool Clients::all_answered() const {
  return std::all_of(operations_.begin(), operations_.end(),
                     [](const Operation& o) { return o.answered; });
}

void Clients::tidy_up() {
  for (std::uint32_t i = 0; i < world_.machines(); ++i) {
    const Node* node = nullptr;
    const ClusterState& state = world_.database().replayed();
    if (const NodeId* id = state.node_ids.find(world_.machine(i).name()))
      node = state.nodes.find(*id);
    if (!node || node->admin == AdminState::up) continue;
    UpdateNode update;
    update.names = {node->name};
    act(stage_.now(), submitted_.empty() ? 0 : submitted_.front(), update);
  }
  world_.database().replayed().jobs.for_each([&](const JobKey& key, const Job& job) {
    if (job.state != JobState::pending && job.state != JobState::suspended) return;
    UserCommand command;
    command.who = person(kAdmin);
    if (job.state == JobState::suspended) {
      ResumeJobs resume;
      resume.jobs.keys = {key};
      command.body = resume;
    } else if (job.dependency_failed) {
      Cancel cancel;
      cancel.jobs.keys = {key};
      command.body = cancel;
    } else if (job.hold != Hold::none) {
      ReleaseJobs release;
      release.jobs.keys = {key};
      command.body = release;
    } else {
      return;
    }
    const std::uint64_t number = add(std::move(command));
    send(number);
  });
}

}  // namespace ares::sim
