// Tests: text_fields
#include "node/records.h"

#include <gtest/gtest.h>

#include "node/checkpoint_fields.h"
#include "node/memory_spool.h"
#include "node/step_message.h"
#include "node/step_spec.h"

namespace ares::node {
namespace {

const AttemptKey kRecordsKey{{JobId(12), TaskIndex{}}, AttemptNo(1)};
const AttemptKey kTask{{JobId(12), TaskIndex{3}}, AttemptNo(2)};

TEST(DirectoryName, NamesJobsAndArrayTasks) {
  EXPECT_EQ(directory_name(kRecordsKey), "12.1");
  EXPECT_EQ(directory_name(kTask), "12_3.2");
  EXPECT_EQ(parse_directory_name("12.1"), kRecordsKey);
  EXPECT_EQ(parse_directory_name("12_3.2"), kTask);
}

TEST(DirectoryName, RefusesOtherNames) {
  for (const char* name : {"", "12", "12.", ".1", "012.1", "12_.1", "12_3", "12.1.removed", "x12.1",
                           "12.1 ", "99999999999999999999.1", "lost+found"})
    EXPECT_FALSE(parse_directory_name(name)) << name;
}

// One row of the recovery table: the records present, and the phase that follows from them.
struct Row {
  const char* records;  // e exit, c cancelled, g go, t task, s started
  bool locked;
  bool same_boot;
  AttemptPhase phase;
};

TEST(RecoveryTable, PhaseFollowsFromTheRecords) {
  const Row rows[] = {
      {"", false, true, AttemptPhase::accepted},
      {"", true, true, AttemptPhase::accepted},
      {"s", true, true, AttemptPhase::accepted},
      {"s", false, true, AttemptPhase::never_ran},
      {"st", true, true, AttemptPhase::ready},
      {"st", false, true, AttemptPhase::never_ran},
      {"stg", true, true, AttemptPhase::running},
      {"stg", false, true, AttemptPhase::lost},
      {"stge", true, true, AttemptPhase::done},
      {"stge", false, true, AttemptPhase::done},
      {"c", false, true, AttemptPhase::never_ran},
      {"stc", false, true, AttemptPhase::never_ran},
      {"stc", true, true, AttemptPhase::ready},  // ending, but not over while its processes exist
      // After a reboot only records that were synced prove anything.
      {"", false, false, AttemptPhase::lost},
      {"s", false, false, AttemptPhase::lost},
      {"st", false, false, AttemptPhase::lost},
      {"stg", false, false, AttemptPhase::lost},
      {"e", false, false, AttemptPhase::done},
      {"stge", false, false, AttemptPhase::done},
      {"c", false, false, AttemptPhase::never_ran},
  };
  for (const Row& row : rows) {
    const std::string_view r = row.records;
    Evidence e;
    e.exit = r.find('e') != r.npos;
    e.cancelled = r.find('c') != r.npos;
    e.go = r.find('g') != r.npos;
    e.task = r.find('t') != r.npos;
    e.started = r.find('s') != r.npos;
    e.locked = row.locked;
    e.same_boot = row.same_boot;
    EXPECT_EQ(phase_from(e), row.phase)
        << row.records << " locked " << row.locked << " same boot " << row.same_boot;
  }
}

TEST(Records, AreReadBackAsWritten) {
  ExitRecord exit;
  exit.exit = {3, 9, true, true};
  exit.usage = {Duration(1234567), Duration(89), Bytes::mib(5)};
  exit.started_at = Time(Duration(1'700'000'000'000'001));
  exit.ended_at = Time(Duration(1'700'000'000'000'009));
  exit.detail = "two\nlines\\and a \"quote\"";
  exit.lease_ended = true;
  const Result<ExitRecord> read = decode_exit(encode(exit));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->exit, exit.exit);
  EXPECT_EQ(read->usage, exit.usage);
  EXPECT_EQ(read->started_at, exit.started_at);
  EXPECT_EQ(read->ended_at, exit.ended_at);
  EXPECT_EQ(read->detail, exit.detail);
  EXPECT_TRUE(read->lease_ended);

  IntentRecord intent{kTask, Fence(7), 3, "boot", 1, true, exit.started_at};
  const Result<IntentRecord> intent_read = decode_intent(encode(intent));
  ASSERT_TRUE(intent_read);
  EXPECT_EQ(intent_read->attempt, kTask);
  EXPECT_EQ(intent_read->fence, Fence(7));
  EXPECT_EQ(intent_read->incarnation, 3u);
  EXPECT_TRUE(intent_read->leased);
}

TEST(Records, TaskIsIdentifiedByPidAndStartTime) {
  TaskRecord task;
  task.pid = 5;
  task.start_ticks = 123;
  task.own_pid_namespace = true;
  task.no_namespace_because = "why";
  const Result<TaskRecord> read = decode_task(encode(task));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pid, 5);
  EXPECT_EQ(read->start_ticks, 123u);
  EXPECT_EQ(read->no_namespace_because, "why");

  const Result<TaskRecord> older = decode_task("pid 5\nown_pid_namespace 1\nat 9\n");  // 0.1.0
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(older->pid, 5);
  EXPECT_EQ(older->start_ticks, 0u);
}

TEST(Records, OfNewerReleasesAreReadAndTruncatedOnesRefused) {
  EXPECT_TRUE(decode_go("fence 4\nat 5\ncolour green\n"));
  for (const char* text : {"", "fence\n", "fence 4\n", "fence x\nat 5\n", "at 5\n"}) {
    const Result<GoRecord> go = decode_go(text);
    ASSERT_FALSE(go) << text;
    EXPECT_EQ(go.error().code, ErrorCode::data_loss);
    EXPECT_NE(go.error().message.find("go"), std::string::npos);
  }
}

TEST(StepCommands, LaterVersionIsRefusedAndNoneIsTheFirst) {
  EXPECT_TRUE(decode_step_command("command kill\nfence 5\n")) << "of release 0.1.0";
  EXPECT_TRUE(decode_step_command("version 1\ncommand kill\nfence 5\n"));
  const Result<StepCommand> later = decode_step_command("version 2\ncommand burn\n");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().message, "packet is of version 2, and this program understands up to 1");
}

TEST(StepCommands, AreDecodedAsEncoded) {
  const StepCommand commands[] = {
      StepGo{Fence(5), BootTime(Duration(77))},
      StepGo{Fence(5), std::nullopt},
      StepKill{Fence(5), true},
      StepKill{Fence(5), false, Seconds(120)},
      StepSignal{Fence(5), Lsn(6), 10, true},
      StepSetLimit{Fence(5), Lsn(6), Seconds(60)},
      StepSetLimit{Fence(5), Lsn(6), std::nullopt},
      StepRenewLease{BootTime(Duration(78))},
      StepSetSuspended{Fence(5), Lsn(6), true, Seconds(2)},
      StepSetSuspended{Fence(5), Lsn(7), false, {}},
  };
  for (const StepCommand& command : commands) {
    const Result<StepCommand> read = decode_step_command(encode(command));
    ASSERT_TRUE(read) << encode(command);
    EXPECT_EQ(encode(*read), encode(command));
    EXPECT_EQ(read->index(), command.index());
  }
  EXPECT_FALSE(decode_step_command("command dance\n"));
  EXPECT_FALSE(decode_step_command("\x01\x02 garbage"));
}

TEST(StepSpecText, KeepsTheFieldsThatASupervisorNeeds) {
  auto job = std::make_shared<JobSpec>();
  job->name = "my job\nwith a line";
  job->uid = UserId(1000);
  job->gid = GroupId(100);
  job->arguments = {"", "a b", "c\\d"};
  job->work_dir = "/home/x";
  job->std_out = "%x.out";
  job->open_mode = OpenMode::append;
  job->umask = 077;
  job->limits = {{7, 1024}, {4, 0}};
  job->memory_per_cpu = Bytes::mib(500);
  job->memory_per_gpu = Bytes::mib(600);
  job->tmp_disk = Bytes::gib(10);
  job->gpus_per_node = {{.type = "a100", .count = 2}, {.type = "", .part = 500}};
  job->gpus_total = {{.type = "odd:name", .count = 4}};
  job->checkpoint = CheckpointRequest{"/s", 3};
  job->container = ContainerRequest{.image = "i:1",
                                    .mounts = {{"/a", "/b", true}, {"/c", "/c", false}},
                                    .work_dir = "/w",
                                    .variables = {"A", "B"},
                                    .is_per_rank = true,
                                    .pod_template = "{\n}",
                                    .space = "s",
                                    .service_account = "u"};
  StepSpec spec;
  spec.launch.attempt = kTask;
  spec.launch.fence = Fence(99);
  spec.launch.own_id = JobId(15);
  spec.launch.container_image = "i:1";
  spec.launch.spec = job;
  spec.launch.layout = std::make_shared<const NodeLayout>(std::vector<std::string>{"n1", "n2"},
                                                          std::vector<std::uint32_t>{4, 2},
                                                          std::vector<std::uint32_t>{2, 1});
  spec.launch.share.gpus = {GpuIndex(0), GpuIndex(2)};
  spec.launch.share.cpu_ids = {4, 5};
  spec.launch.share.gpu_part = 250;
  spec.launch.share.cpu_thousandths = 1500;
  spec.launch.gpu_types = {"a100", "a100"};
  spec.launch.time_limit = Seconds(3600);
  spec.launch.array_max = 9;
  spec.launch.leased = true;
  spec.user = {"x", GroupId(100), {GroupId(100), GroupId(4)}, "/home/x", "/bin/bash"};
  spec.node_has_gpus = true;
  spec.memory_limit = Bytes::gib(4);
  spec.max_processes = 4096;
  spec.denied_devices = {"c 195:0", "c 226:129"};
  spec.visible_gpus = {"MIG-a", "MIG-b"};
  spec.gpu_cpus = {{}, *parse_interval_set("0-3,8")};
  spec.cpu_layout = parse_cpu_layout("0.0:0-3/8-11;1.1:4-7/12-15").value();
  spec.launch.checkpoints = {
      {7, AttemptNo(2), {1, 2}, Bytes(3), "/s/12/000007.2", Time(Seconds(4))}};

  const Result<StepSpec> read = decode_step_spec(encode(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode(*read), encode(spec));
  EXPECT_EQ(read->launch.spec->name, job->name);
  EXPECT_EQ(read->launch.spec->arguments, job->arguments);
  EXPECT_EQ(read->launch.spec->limits, job->limits);
  EXPECT_EQ(read->launch.spec->gpus_per_node, job->gpus_per_node);
  EXPECT_EQ(read->launch.spec->gpus_total, job->gpus_total);
  EXPECT_EQ(read->launch.share.gpus, spec.launch.share.gpus);
  EXPECT_EQ(read->launch.share.gpu_part, 250u);
  EXPECT_EQ(read->launch.share.cpu_thousandths, 1500u);
  EXPECT_EQ(read->launch.attempt, kTask);
  EXPECT_EQ(read->user, spec.user);
  EXPECT_EQ(read->memory_limit, spec.memory_limit);
  EXPECT_EQ(read->max_processes, 4096u);
  EXPECT_EQ(read->denied_devices, spec.denied_devices);
  EXPECT_EQ(read->visible_gpus, spec.visible_gpus);
  EXPECT_EQ(read->gpu_cpus, spec.gpu_cpus);
  EXPECT_EQ(read->cpu_layout, spec.cpu_layout);
  EXPECT_EQ(read->launch.checkpoints, spec.launch.checkpoints);
  EXPECT_EQ(read->launch.spec->checkpoint, job->checkpoint);
  EXPECT_EQ(read->launch.spec->container, job->container);
  EXPECT_EQ(read->launch.container_image, "i:1");
}

TEST(ReportAttempt, TellsOfCheckpointsThatTheControllerHasNotConfirmed) {
  MemorySpool spool;
  auto dir = std::move(*spool.create(kRecordsKey));
  IntentRecord intent;
  intent.attempt = kRecordsKey;
  intent.boot_id = "boot";
  ASSERT_TRUE(dir->create(Record::intent, encode(intent)));
  EXPECT_TRUE(report_attempt(spool, kRecordsKey, "boot")->checkpoints.empty());
  const std::vector<Checkpoint> published = {
      {7, AttemptNo(1), {9}, Bytes(3), "/s/12/000007.1", Time(Seconds(4))}};
  ASSERT_TRUE(dir->create(Record::checkpoints, encode(published)));
  EXPECT_EQ(report_attempt(spool, kRecordsKey, "boot")->checkpoints, published);
}

// The supervisor died, or the power may fail, between the exit record and its sync.
TEST(ReportAttempt, EndIsSyncedBeforeItIsReported) {
  MemorySpool spool;
  auto dir = std::move(*spool.create(kRecordsKey));
  IntentRecord intent;
  intent.attempt = kRecordsKey;
  intent.boot_id = "boot";
  ASSERT_TRUE(dir->create(Record::intent, encode(intent)));
  ASSERT_TRUE(dir->create(Record::started, ""));
  ASSERT_TRUE(dir->create(Record::go, encode(GoRecord{})));
  ASSERT_TRUE(report_attempt(spool, kRecordsKey, "boot"));
  EXPECT_EQ(spool.content(kRecordsKey)->synced, 0u) << "nothing has ended";

  ASSERT_TRUE(dir->create(Record::exit, encode(ExitRecord{})));
  const Result<AttemptReport> report = report_attempt(spool, kRecordsKey, "boot");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->phase, AttemptPhase::done);
  EXPECT_EQ(spool.content(kRecordsKey)->synced, 4u);
}

// Regression: a job whose node had lost its controller for a lease was FAILED by signal 9, not requeued.
TEST(ReportAttempt, AttemptThatWasKilledForItsLeaseIsLost) {
  MemorySpool spool;
  auto dir = std::move(*spool.create(kRecordsKey));
  ExitRecord exit;
  exit.exit.signal = 9;
  exit.fence = Fence(4);
  exit.detail = "killed because the lease of the attempt ran out";
  exit.lease_ended = true;
  ASSERT_TRUE(dir->create(Record::exit, encode(exit)));
  const Result<AttemptReport> report = report_attempt(spool, kRecordsKey, "boot");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->phase, AttemptPhase::lost);
  EXPECT_EQ(report->fence, Fence(4));
  EXPECT_EQ(report->detail, exit.detail);
}

TEST(ReportAttempt, ReadyTaskWithoutTheUsualNamespaceSaysWhy) {
  MemorySpool spool;
  auto dir = std::move(*spool.create(kRecordsKey));
  IntentRecord intent;
  intent.attempt = kRecordsKey;
  intent.boot_id = "boot";
  TaskRecord task;
  task.pid = 5;
  task.no_namespace_because = "cannot make a pid namespace: Too many users";
  ASSERT_TRUE(dir->create(Record::intent, encode(intent)));
  ASSERT_TRUE(dir->create(Record::started, ""));
  ASSERT_TRUE(dir->create(Record::task, encode(task)));
  ASSERT_TRUE(*dir->lock());
  const Result<AttemptReport> ready = report_attempt(spool, kRecordsKey, "boot");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->phase, AttemptPhase::ready);
  EXPECT_TRUE(ready->detail.ends_with(task.no_namespace_because)) << ready->detail;

  ASSERT_TRUE(dir->create(Record::go, encode(GoRecord{})));
  const Result<AttemptReport> running = report_attempt(spool, kRecordsKey, "boot");
  ASSERT_TRUE(running);
  EXPECT_EQ(running->detail, "") << "which would say that its supervisor has died";
}

TEST(ReportAttempt, CancelledRecordIsNeverRanAndAnEmptyDirectoryIsNotFound) {
  MemorySpool spool;
  EXPECT_EQ(report_attempt(spool, kRecordsKey, "boot").error().code, ErrorCode::not_found);
  auto dir = std::move(*spool.create(kRecordsKey));
  EXPECT_EQ(report_attempt(spool, kRecordsKey, "boot").error().code, ErrorCode::not_found)
      << "without an intent nothing was promised";
  ASSERT_TRUE(dir->create(Record::cancelled, encode(CancelledRecord{Fence(4), Time{}, "why"})));
  const Result<AttemptReport> report = report_attempt(spool, kRecordsKey, "boot");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->phase, AttemptPhase::never_ran);
  EXPECT_EQ(report->fence, Fence(4));
  EXPECT_EQ(report->detail, "why");
}

}  // namespace
}  // namespace ares::node
