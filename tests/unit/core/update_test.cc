// Tests: job_event_of, bulk_action, decide_update, privileges, select, spec_fields
// Updates of submitted jobs: which fields, in which state, by which users, and the text of refusals.
#include <sstream>

#include "core/job/checks/spec_fields.h"
#include "unit/core/update_request.h"

namespace ares::core {
namespace {

// Adds a second partition: two nodes, a time limit of one hour, another priority.
void add_partition(Cluster& c) {
  ApplyConfig config;
  config.hash = 8;
  c.state().partitions.for_each(
      [&](const std::string&, const Partition& p) { config.partitions.push_back(p); });
  Partition small;
  small.name = "small";
  small.nodes = {"n1", "n2"};
  small.priority = 77;
  small.max_time = Seconds{3600};
  config.partitions.push_back(small);
  for (int i = 1; i <= 4; ++i)
    config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
  c.run({config});
}

TEST(UpdateSpec, ReplacesNamedFieldsOnly) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.comment = "first";
  s.std_out = "out.%j";
  const JobKey key = c.submit(s);
  const auto before = c.job(key).spec;
  const Reply reply = c.user(kAlice, set(key, {"name", "std_err"}, [](JobSpec& v) {
                               v.name = "renamed";
                               v.std_err = "err";
                               v.comment = "must not be taken";
                             }));
  EXPECT_FALSE(reply.failed) << reply.error.message;
  EXPECT_EQ(reply.jobs, std::vector{key});
  JobSpec expected = *before;
  expected.name = "renamed";
  expected.std_err = "err";
  EXPECT_EQ(*c.job(key).spec, expected);
  EXPECT_EQ(before->name, "test") << "a specification is never changed where it lies";
  c.allocate(key, {1});
  EXPECT_EQ(c.last_sent<Prepare>(1)->launch.spec->name, "renamed");
}

TEST(UpdateSpec, UnchangedValueMakesNoEvent) {
  Cluster c;
  const JobKey key = c.submit();
  EXPECT_FALSE(c.user(kAlice, set(key, {"name"}, [](JobSpec& v) { v.name = "test"; })).failed);
  EXPECT_EQ(c.happened<Modified>(), 0u);
  EXPECT_TRUE(c.user(kAlice, set(key, {}, [](JobSpec&) {})).failed) << "names no field";
}

TEST(UpdateSpec, UnchangeableFieldIsNamed) {
  Cluster c;
  const JobKey key = c.submit();
  const Reply reply = c.user(kRoot, set(key, {"uid"}, [](JobSpec& v) { v.uid = kBob; }));
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(reply.error.message.find("\"uid\""), std::string::npos) << reply.error.message;
  EXPECT_EQ(c.job(key).spec->uid, kAlice);
}

// Clients of every release send these names.
TEST(SpecFields, NamesThatRequestsMayChange) {
  const auto expect = [](const char* names, const auto& check) {
    std::istringstream words(names);
    for (std::string name; words >> name;) {
      SCOPED_TRACE(name);
      check(find_spec_field(name));
    }
  };
  const auto may_change = [](bool alive) {
    return [alive](const SpecField* field) {
      ASSERT_NE(field, nullptr);
      EXPECT_EQ(field->alive, alive);
      EXPECT_FALSE(field->title.empty());
    };
  };
  expect("comment extra mail_types mail_user", may_change(true));
  expect(
      "name account qos wckey partitions min_nodes max_nodes node_counts tasks tasks_per_node "
      "cpus_per_task cpu_thousandths_per_task memory_per_node memory_per_cpu tmp_disk "
      "gpus_per_node "
      "gpus_total gpus_per_task "
      "gpu_alternatives alternatives_per memory_per_gpu cpus_per_gpu gpu_topology min_nvlink "
      "licenses any_license exclusive_user exclusive required_nodes excluded_nodes features prefer "
      "switches switches_wait segment reservations begin deadline time_min dependencies "
      "any_dependency kill_on_invalid_dependency nice warning requeue work_dir std_in std_out "
      "std_err",
      may_change(false));
  expect(
      "uid gid user environment submit_dir submit_host submit_line script arguments array hold "
      "priority time_limit gang container checkpoint spare_nodes overcommit warning_signal Comment",
      [](const SpecField* field) { EXPECT_EQ(field, nullptr); });
}

TEST(UpdateSpec, OnlyOwnerAndOperatorsMayUpdate) {
  Cluster c;
  const JobKey key = c.submit();
  const auto rename = set(key, {"name"}, [](JobSpec& v) { v.name = "mine"; });
  EXPECT_EQ(c.user(kBob, rename).error.code, ErrorCode::permission_denied);
  EXPECT_EQ(c.job(key).spec->name, "test");
  EXPECT_FALSE(c.user(kOperator, rename).failed);
}

UpdateJob set_priority(JobKey key, std::uint32_t priority) {
  UpdateJob update;
  update.jobs = Cluster::named(key);
  update.priority = priority;
  return update;
}

TEST(UpdatePriority, ZeroHoldsAndAHigherOneReleases) {
  Cluster c;
  const JobKey key = c.submit();
  EXPECT_EQ(c.user(kAlice, set_priority(key, 0)).error.code, ErrorCode::permission_denied);
  EXPECT_EQ(c.job(key).hold, Hold::none);
  ASSERT_FALSE(c.user(kOperator, set_priority(key, 0)).failed);
  EXPECT_EQ(c.job(key).hold, Hold::admin);
  EXPECT_EQ(c.job(key).reason, Reason::job_held_admin);
  EXPECT_EQ(c.job(key).priority, 10u) << "that with which it waits once it is released";
  ASSERT_FALSE(c.user(kOperator, set_priority(key, 0)).failed) << "it is held already";
  ASSERT_FALSE(c.user(kOperator, set_priority(key, 7)).failed);
  EXPECT_EQ(c.job(key).hold, Hold::none);
  EXPECT_EQ(c.job(key).priority, 7u);
}

TEST(UpdatePriority, OfAJobThatItsUserHoldsDoesNotReleaseIt) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.hold = true;
  const JobKey key = c.submit(s);
  ASSERT_FALSE(c.user(kOperator, set_priority(key, 7)).failed);
  EXPECT_EQ(c.job(key).hold, Hold::user);
  EXPECT_EQ(c.job(key).priority, 7u);
}

TEST(UpdatePriority, ZeroHoldsOneTaskOfAnArray) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.array = *parse_interval_set("0-3");
  const JobKey array = c.submit(s);
  const JobKey task{array.job, TaskIndex{2}};
  UpdateJob both = set_priority(task, 0);
  both.set_time_limit = true;
  both.time_limit = Seconds{60};
  ASSERT_FALSE(c.user(kOperator, both).failed);
  EXPECT_EQ(c.job(task).hold, Hold::admin);
  EXPECT_EQ(c.job(task).time_limit, Seconds{60});
  EXPECT_EQ(c.job(array).hold, Hold::none);
}

TEST(UpdatePriority, ZeroOfARunningJobIsRefused) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  const Reply reply = c.user(kOperator, set_priority(key, 0));
  EXPECT_EQ(reply.error.code, ErrorCode::failed_precondition);
  EXPECT_NE(reply.error.message.find("no longer pending"), std::string::npos)
      << reply.error.message;
  EXPECT_EQ(c.job(key).priority, 10u);
}

TEST(UpdateSpec, FieldsInUseByARunningAttemptAreFixed) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  for (const char* field : {"partitions", "requeue", "features", "begin", "std_out"}) {
    const Reply reply =
        c.user(kAlice, set(key, {field}, [](JobSpec& v) { v.partitions = {"main"}; }));
    EXPECT_EQ(reply.error.code, ErrorCode::failed_precondition) << field;
    EXPECT_NE(reply.error.message.find("only be changed while it is pending (RUNNING)"),
              std::string::npos)
        << reply.error.message;
  }
  EXPECT_FALSE(
      c.user(kAlice, set(key, {"comment"}, [](JobSpec& v) { v.comment = "half-way"; })).failed);
  EXPECT_EQ(c.job(key).spec->comment, "half-way");
}

TEST(UpdateSpec, IsCheckedLikeASubmission) {
  struct Case {
    const char* field;
    Change change;
    const char* text;
  };
  const Case cases[] = {
      {"partitions", [](JobSpec& v) { v.partitions = {"nowhere"}; }, "Invalid partition name"},
      {"tasks", [](JobSpec& v) { v.tasks = 400; }, "room for 4"},
      {"cpus_per_task", [](JobSpec& v) { v.cpus_per_task = 5; }, "5 CPUs on one node"},
      {"features", [](JobSpec& v) { v.features = {"warp"}; }, "features"},
      {"required_nodes", [](JobSpec& v) { v.required_nodes = {"n9"}; }, "n9"},
      {"name", [](JobSpec& v) { v.name = "a\nb"; }, "control character"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.field);
    Cluster c;
    const JobKey key = c.submit();
    const auto before = c.job(key).spec;
    const Reply reply = c.user(kAlice, set(key, {one.field}, one.change));
    EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
    EXPECT_NE(reply.error.message.find("job 1: "), std::string::npos) << reply.error.message;
    EXPECT_NE(reply.error.message.find(one.text), std::string::npos) << reply.error.message;
    EXPECT_EQ(c.job(key).spec, before);
  }
}

TEST(UpdateSpec, MoveAdoptsPriorityAndTimeLimitOfThePartition) {
  Cluster c;
  add_partition(c);
  const JobKey key = c.submit();
  const auto move = set(key, {"partitions"}, [](JobSpec& v) { v.partitions = {"small"}; });
  EXPECT_EQ(c.job(key).priority, 10u);
  EXPECT_FALSE(c.user(kAlice, move).failed);
  EXPECT_EQ(c.job(key).priority, 77u);

  JobSpec s = Cluster::spec();
  s.time_limit = Seconds{7200};
  const JobKey longer = c.submit(s);
  UpdateJob both = set(longer, {"partitions"}, [](JobSpec& v) { v.partitions = {"small"}; });
  EXPECT_NE(c.user(kAlice, both).error.message.find("partition small allows at most 01:00:00"),
            std::string::npos);
  both.set_time_limit = true;
  both.time_limit = Seconds{1800};
  EXPECT_FALSE(c.user(kAlice, both).failed) << "lowered in the same command";
  EXPECT_EQ(c.job(longer).spec->partitions, std::vector<std::string>{"small"});
  EXPECT_EQ(c.job(longer).time_limit, Seconds{1800});

  const JobKey chosen = c.submit();
  UpdateJob priority;
  priority.jobs = Cluster::named(chosen);
  priority.priority = 5;
  EXPECT_FALSE(c.user(kOperator, priority).failed);
  c.user(kAlice, set(chosen, {"partitions"}, [](JobSpec& v) { v.partitions = {"small"}; }));
  EXPECT_EQ(c.job(chosen).priority, 5u) << "an operator's choice stays";
}

TEST(UpdateSpec, OwnersRaiseNiceAndOperatorsLowerIt) {
  Cluster c;
  const JobKey key = c.submit();
  const auto nice = [&](std::int32_t value) {
    return set(key, {"nice"}, [&](JobSpec& v) { v.nice = value; });
  };
  EXPECT_FALSE(c.user(kAlice, nice(50)).failed);
  EXPECT_EQ(c.user(kAlice, nice(49)).error.code, ErrorCode::permission_denied);
  EXPECT_EQ(c.job(key).spec->nice, 50);
  EXPECT_FALSE(c.user(kOperator, nice(-3)).failed);
  EXPECT_EQ(c.job(key).spec->nice, -3);
}

TEST(UpdateSpec, BeginChangesTheAgeAndACommentDoesNot) {
  Cluster c;
  const JobKey key = c.submit();
  const Time since = c.job(key).eligible;
  c.now += Seconds{50};
  c.user(kAlice, set(key, {"comment"}, [](JobSpec& v) { v.comment = "x"; }));
  EXPECT_EQ(c.job(key).eligible, since);
  const Time later = c.now + Seconds{500};
  c.user(kAlice, set(key, {"begin"}, [&](JobSpec& v) { v.begin = later; }));
  EXPECT_EQ(c.job(key).eligible, later);
  c.plan({c.group(key, {1})});
  EXPECT_EQ(c.job(key).state, JobState::pending) << "its time has not come";
  c.user(kAlice, set(key, {"begin"}, [](JobSpec&) {}));
  EXPECT_EQ(c.job(key).eligible, c.now);
  c.allocate(key, {1});
}

TEST(UpdateSpec, RenamedJobReleasesTheNextSingleton) {
  Cluster c;
  const JobKey first = c.submit();
  JobSpec s = Cluster::spec();
  s.dependencies = {{DependencyKind::singleton, {}}};
  const JobKey second = c.submit(s);
  EXPECT_FALSE(c.job(second).waiting_for.empty());
  const auto rename = [](JobKey key, const char* name) {
    return set(key, {"name"}, [&](JobSpec& v) { v.name = name; });
  };
  EXPECT_NE(c.user(kAlice, rename(second, "b")).error.message.find("singleton"), std::string::npos);
  EXPECT_FALSE(c.user(kAlice, rename(first, "other")).failed);
  EXPECT_TRUE(c.job(second).waiting_for.empty());
}

TEST(UpdateSpec, DeadlineMustBePossible) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.time_limit = Seconds{3600};
  const JobKey key = c.submit(s);
  const auto by = [&](Duration from_now) {
    return set(key, {"deadline"}, [&](JobSpec& v) { v.deadline = c.now + from_now; });
  };
  EXPECT_NE(c.user(kAlice, by(Seconds{1800})).error.message.find("deadline"), std::string::npos);
  UpdateJob shorter = by(Seconds{1800});
  shorter.set_time_limit = true;
  shorter.time_limit = Seconds{600};
  EXPECT_FALSE(c.user(kAlice, shorter).failed);
  EXPECT_EQ(c.job(key).spec->deadline, c.now + Seconds{1800});
  EXPECT_FALSE(c.user(kAlice, set(key, {"deadline"}, [](JobSpec&) {})).failed);
  c.tick(Seconds{2000});
  EXPECT_EQ(c.job(key).state, JobState::pending);
}

TEST(UpdateLimit, IsRepeatedUntilTheNodeConfirmsIt) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.time_limit = Seconds{3600};
  const JobKey key = c.submit(s);
  c.start(key, {1});
  c.user(kAlice, UpdateJob{Cluster::named(key), {}, true, Seconds{600}});
  c.user(kOperator, UpdateJob{Cluster::named(key), {}, true, Seconds{3600}});
  const Lsn last = c.last_sent<SetLimit>(1)->lsn;
  c.forget_sent();
  c.from_node(1, Heartbeat{1, {c.report(key, AttemptPhase::running)}});
  ASSERT_TRUE(c.last_sent<SetLimit>(1)) << "back at what was submitted, but the node may not know";
  EXPECT_EQ(c.last_sent<SetLimit>(1)->lsn, last);
  EXPECT_EQ(c.last_sent<SetLimit>(1)->time_limit, Seconds{3600});
}

TEST(UpdateLimit, ChangeWhilePendingAppliesAtStart) {
  Cluster c;
  const JobKey key = c.submit();
  c.user(kAlice, UpdateJob{Cluster::named(key), {}, true, Seconds{3600}});
  c.start(key, {1});
  c.forget_sent();
  c.from_node(1, Heartbeat{1, {c.report(key, AttemptPhase::running)}});
  EXPECT_EQ(c.sent<SetLimit>(1), 0u) << "it was launched with it";
}

TEST(UserHold, OwnerMayReleaseIt) {
  Cluster c;
  const JobKey key = c.submit();
  c.user(kOperator, HoldJobs{Cluster::named(key), true});
  EXPECT_EQ(c.job(key).reason, Reason::job_held_user);
  EXPECT_FALSE(c.user(kAlice, ReleaseJobs{Cluster::named(key)}).failed);
  EXPECT_EQ(c.job(key).hold, Hold::none);
}

TEST(RequeueIncomplete, RunsOnlyTasksThatDidNotComplete) {
  Cluster c;
  const JobKey array = c.submit(array_of(4));
  for (const std::uint32_t i : {0u, 1u, 2u}) c.start(task(array, i), {1});
  c.progress(1, task(array, 0), AttemptPhase::done, 0);
  c.progress(1, task(array, 1), AttemptPhase::done, 1);
  const Reply reply = c.user(kAlice, RequeueJobs{Cluster::named(array), false, true});
  EXPECT_FALSE(reply.failed) << reply.error.message;
  EXPECT_EQ(c.job(task(array, 0)).state, JobState::completed);
  EXPECT_EQ(c.job(task(array, 1)).state, JobState::pending);
  EXPECT_EQ(c.job(task(array, 2)).state, JobState::completing);
  EXPECT_TRUE(c.job(array).array->waiting.contains(3));
}

// Regression: a job that was moved kept the default memory of its first partition, as if it had asked for it.
TEST(UpdateSpec, DefaultMemoryFollowsThePartition) {
  Cluster c;
  ApplyConfig config;
  config.hash = 8;
  for (const auto& [name, memory] :
       {std::pair("a", 500), std::pair("b", 900), std::pair("none", 0)}) {
    Partition partition;
    partition.name = name;
    partition.nodes = {"n1", "n2"};
    partition.default_memory_per_cpu = Bytes::mib(memory);
    config.partitions.push_back(partition);
  }
  for (int i = 1; i <= 4; ++i)
    config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
  c.run({config});
  const auto submit = [&](std::vector<std::string> partitions, std::optional<Bytes> memory) {
    JobSpec spec = Cluster::spec();
    spec.memory_per_node.reset();
    spec.partitions = std::move(partitions);
    spec.memory_per_cpu = memory;
    return c.submit(spec);
  };
  const auto after = [&](JobKey key, std::vector<std::string> partitions) {
    const Reply moved =
        c.user(kAlice, set(key, {"partitions"}, [&](JobSpec& v) { v.partitions = partitions; }));
    EXPECT_FALSE(moved.failed) << moved.error.message;
    return c.job(key).spec->memory_per_cpu;
  };
  const JobKey key = submit({"a"}, {});
  EXPECT_EQ(c.job(key).spec->memory_per_cpu, Bytes::mib(500));
  EXPECT_EQ(after(key, {"b"}), Bytes::mib(900));
  EXPECT_EQ(after(key, {"a", "b"}), std::nullopt) << "the partition that it starts in decides";
  EXPECT_EQ(after(key, {"a"}), Bytes::mib(500));
  EXPECT_EQ(after(key, {"none"}), std::nullopt);
  EXPECT_EQ(after(submit({"a"}, Bytes::mib(700)), {"b"}), Bytes::mib(700)) << "it was asked for";
}

}  // namespace
}  // namespace ares::core
