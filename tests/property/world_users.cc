// Requests of users and operators, valid and invalid ones.
#include "property/world.h"

namespace ares::property {
namespace {

constexpr UserId kUsers[] = {UserId{0}, UserId{1000}, UserId{1001}};

}  // namespace

DependencyKind World::any_kind() {
  return static_cast<DependencyKind>(draw(static_cast<int>(kLastDependencyKind) + 1));
}

JobKey World::some_job() {
  const std::uint64_t ids = engine_->state().next_job_id.value();
  JobKey key{JobId{1 + random_() % ids}, {}};
  const Job* job = engine_->state().jobs.find(key);
  if (job && job->array && chance(60)) key.task = TaskIndex{static_cast<std::uint32_t>(draw(6))};
  return key;
}

// A suspended job, if there is one; else `otherwise`.
JobSelector World::some_suspended(JobSelector otherwise) {
  std::vector<JobKey> found;
  engine_->state().jobs.for_each([&](const JobKey& key, const Job& job) {
    if (job.state == JobState::suspended) found.push_back(key);
  });
  if (!found.empty())
    otherwise.keys = {found[static_cast<std::size_t>(draw(static_cast<int>(found.size())))]};
  return otherwise;
}

void World::submit(UserId uid, bool again) {
  UserCommand command;
  if (again && !submitted_.empty()) {
    command = submitted_[static_cast<std::size_t>(draw(static_cast<int>(submitted_.size())))].first;
  } else {
    JobSpec s;
    s.name = "job";
    s.uid = uid;
    s.user = "u" + std::to_string(uid.value());
    s.min_nodes = s.max_nodes = s.tasks = chance(30) ? 2 : 1;
    s.requeue = !chance(25);
    s.expedite = node_life_ && s.requeue && chance(40);
    if (node_life_ && s.requeue && chance(15)) s.spare_nodes = 1;
    if (node_life_ && chance(40)) s.checkpoint = CheckpointRequest{"/saved", 1};
    if (chance(30)) s.partitions = {"high"};
    const std::string qos = chance(50) ? "top" : "scavenger";
    if (chance(40) && core::find_qos(engine_->state().accounting, qos)) s.qos = qos;
    s.hold = chance(10);
    s.kill_on_invalid_dependency = chance(30);
    if (chance(25)) {
      s.array.emplace();
      s.array->insert(0, static_cast<std::uint32_t>(1 + draw(5)));
      if (chance(50)) s.array_throttle = static_cast<std::uint32_t>(1 + draw(2));
    }
    if (!s.array && chance(20)) {  // the name determines the terms, so that members agree
      const auto which = static_cast<std::uint32_t>(draw(4));
      s.gang = GangRequest{"g" + std::to_string(which), 2 + which / 2, which % 2 * (1 + which / 2),
                           Seconds{20 + 10 * which}};
    }
    if (chance(15)) s.reservations = {"r" + std::to_string(draw(3))};
    if (chance(20)) s.begin = now_ + Seconds{draw(20)};
    if (chance(20)) {  // a simulated node has two of these
      s.gpu_alternatives = {{{{"a100", 2}}, 1000}, {{{"", 1}}, 1500}};
      s.gpus_per_node = s.gpu_alternatives[0].gpus;
    }
    if (chance(40)) {  // a short limit, so that shares of it elapse
      s.mail_types = static_cast<std::uint32_t>(draw(1 << 10));
      s.time_limit = Seconds{2 + draw(20)};
    }
    while (chance(25)) s.dependencies.push_back({any_kind(), some_job()});
    command.who = {uid, GroupId{100}, s.user, "login"};
    command.request_id = "q" + std::to_string(++requests_);
    command.body = Submit{std::make_shared<const JobSpec>(std::move(s)), {}};
    submitted_.emplace_back(command, now_);
    if (submitted_.size() > 20) submitted_.erase(submitted_.begin());
  }
  // A retry long after the retention would be a new request: this client gives up before.
  for (const auto& [first, at] : submitted_) {
    if (first.request_id == command.request_id && now_ - at > Seconds{120}) return;
  }
  asked_[ticket_ + 1] = command.request_id;
  handle({command});
}

void World::user_command() {
  const UserId uid = kUsers[draw(3)];
  if (chance(50)) return submit(uid, chance(20));
  UserCommand command;
  command.who = {uid, GroupId{100}, "u" + std::to_string(uid.value()), "login"};
  command.request_id = "q" + std::to_string(++requests_);
  JobSelector jobs;
  jobs.keys = {some_job()};
  if (chance(5)) {
    jobs = {};
    jobs.everything = true;
  }
  if (node_life_ && chance(12)) return care_for_nodes();
  if (chance(8)) return administer();
  switch (draw(10)) {
    case 0:
    case 1: {
      Cancel c;
      c.jobs = jobs;
      c.signal = chance(50) ? 10 : 0;
      command.body = c;
      break;
    }
    case 2: command.body = HoldJobs{jobs}; break;
    case 3:
    case 4: command.body = ReleaseJobs{jobs}; break;
    case 5: command.body = RequeueJobs{jobs, chance(30)}; break;
    case 6:
      command.body =
          chance(50) ? change_spec(jobs) : UpdateJob{jobs, {}, true, Seconds{60 + draw(600)}};
      break;
    case 8:
    case 9:
      if (chance(80)) command.who = {UserId{0}, GroupId{0}, "root", "here"};  // others may not
      if (chance(50))
        command.body = SuspendJobs{jobs};
      else
        command.body = ResumeJobs{chance(60) ? some_suspended(jobs) : jobs};
      break;
    default: {
      UpdateNode u;
      u.names = {"n" + std::to_string(1 + draw(static_cast<int>(nodes_.size())))};
      u.admin = chance(85) ? AdminState::up : chance(60) ? AdminState::drain : AdminState::down;
      u.reason = "test";
      command.body = u;
    }
  }
  handle({command});
}

// Reboots nodes, or removes one that has joined.
void World::care_for_nodes() {
  UserCommand command;
  command.who = {UserId{0}, GroupId{0}, "root", "here"};
  command.request_id = "q" + std::to_string(++requests_);
  const std::string name = name_of(static_cast<std::size_t>(draw(static_cast<int>(nodes_.size()))));
  if (chance(50)) {
    command.body = DeleteNodes{{nodes_.back().joins ? name_of(nodes_.size() - 1) : name}};
  } else {
    RebootNodes reboot;
    reboot.names = {name};
    reboot.asap = chance(50);
    reboot.after = chance(50) ? AfterReboot::up : AfterReboot::as_before;
    reboot.cancel = chance(20);
    command.body = reboot;
  }
  handle({command});
}

// Changes partitions by command, and applies configurations that undo the changes.
void World::administer() {
  UserCommand command;
  command.who = {UserId{0}, GroupId{0}, "root", "here"};
  command.request_id = "q" + std::to_string(++requests_);
  if (chance(30)) {
    command.body = keep_accounts();
  } else if (chance(40)) {
    command.body = reserve();
  } else if (chance(70)) {
    UpdatePartition update;
    update.names = {"small"};
    update.fields = {chance(50) ? "up" : "open", "tier", "priority"};
    update.values.up = update.values.open = chance(50);
    update.values.tier = draw(3);
    update.values.priority = static_cast<std::uint32_t>(draw(100));
    if (chance(40) && core::find_qos(engine_->state().accounting, "top")) {
      update.fields.push_back("qos");
      update.values.qos = chance(60) ? "top" : "";
    }
    command.body = update;
  } else {
    Reconfigure again{configuration(), nullptr};
    again.config.hash = 1 + static_cast<std::uint64_t>(draw(3));
    Policy policy = *policy_;
    policy.config_hash = again.config.hash;
    again.policy = std::make_shared<const Policy>(std::move(policy));
    command.body = again;
  }
  handle({command});
}

// One account, whose users join and leave while their jobs wait and run.
UserBody World::keep_accounts() {
  if (chance(15)) {
    ResetUsage reset;
    const RecordKey lab{RecordKind::account, "lab", {}, {}};
    if (chance(50) && engine_->state().accounting.find(lab)) reset.of = {lab};
    return reset;
  }
  using Verb = AccountingChange::Verb;
  const core::Accounting& records = engine_->state().accounting;
  ChangeAccounting change;
  const auto put = [&](AccountingRecord record, bool gone) {
    const AccountingRecord* known = records.find(key_of(record));
    const Verb verb = gone ? Verb::remove : known ? Verb::modify : Verb::add;
    change.changes.push_back({verb, std::move(record), known ? changed_at(*known) : Lsn{}});
  };
  Account lab;
  lab.name = "lab";
  lab.parent = kRootAccount;
  lab.terms.shares = static_cast<std::uint32_t>(draw(5));
  lab.terms.qos = {"normal", "scavenger", "top"};
  Qos scavenger, top;
  scavenger.name = "scavenger";
  top.name = "top";
  if (chance(60)) scavenger.preempt_mode = PreemptMode::requeue;
  if (chance(30)) scavenger.preempt_exempt = Seconds{5};
  if (chance(30)) scavenger.grace = Seconds{1};
  if (chance(80)) top.preempts = {"scavenger"};
  if (chance(50)) top.limits = {{LimitKind::grp_jobs_accrue, "", 3}};
  put(scavenger, false);
  put(top, false);
  if (chance(70)) lab.terms.limits = {{LimitKind::grp_jobs_accrue, "", 2}};
  put(lab, false);
  User user;
  user.name = "u" + std::to_string(kUsers[draw(3)].value());
  Association member;
  member.key = {lab.name, user.name, {}};
  const bool leaves = chance(30) && records.find(key_of(member));
  user.default_account = leaves ? "" : lab.name;
  put(user, false);
  put(member, leaves);
  return change;
}

// Few names and nodes, so that reservations conflict with each other and with jobs.
UserBody World::reserve() {
  const std::string name = "r" + std::to_string(draw(3));
  if (chance(30)) return DeleteReservations{{name}};
  CreateReservation create;
  create.values.name = name;
  create.values.start = now_ + Seconds{draw(60)};
  create.duration = Seconds{1 + draw(120)};
  create.values.users = {UserId{1000}};
  create.values.flexible = chance(30);
  create.values.ignore_jobs = chance(50);
  create.values.recurrence = chance(20) ? Recurrence::daily : Recurrence::none;
  create.node_count = static_cast<std::uint32_t>(1 + draw(2));
  return create;
}

// Operators and owners request random changes: the engine refuses impossible ones.
UpdateJob World::change_spec(JobSelector jobs) {
  JobSpec values;
  values.comment = "changed " + std::to_string(draw(3));
  values.nice = draw(5);
  if (chance(50)) values.begin = now_ + Seconds{draw(20)};
  if (chance(70)) values.dependencies = {{any_kind(), some_job()}};
  values.requeue = chance(50);
  UpdateJob update;
  update.jobs = std::move(jobs);
  for (const char* field : {"comment", "nice", "begin", "dependencies", "requeue"})
    if (chance(40)) update.fields.emplace_back(field);
  if (chance(20)) update.array_throttle = static_cast<std::uint32_t>(draw(3));
  update.values = std::make_shared<const JobSpec>(std::move(values));
  return update;
}

}  // namespace ares::property
