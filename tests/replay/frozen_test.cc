// Names and numbers that released programs stored, sent or printed. Each release has them in
// tests/replay/<release>/frozen.txt, one a line. Later releases may add lines, never change or remove one (CONTRIBUTING.md, "Frozen
// names"). Messages on the wire and in the database are compared by tests/wire, columns of `ares_views` and --json names by
// test_upgrade.py.
// `ARES_WRITE_REPLAY=FOLDER test_replay` writes the lines of this version there; make_release.py does.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <typeinfo>
#include <vector>

#include "config/network.h"
#include "config/tables.h"
#include "node/checkpoint_fields.h"
#include "node/records.h"
#include "node/step_message.h"
#include "node/step_spec.h"
#include "plugin/exec_abi.h"
#include "plugin/sched_abi.h"
#include "proto/gen/storage.pb.h"
#include "proto/storage_convert.h"
#include "store/pg/migrations.h"
#include "unit/proto/storage_random.h"

namespace ares {
namespace {

namespace fs = std::filesystem;
using Lines = std::set<std::string>;

std::string number(std::size_t value) {
  return std::to_string(value);
}

void add_migrations(Lines& out) {
  std::size_t position = 0;
  for (const store::Migration& migration : store::migrations())
    out.insert("migration " + number(position++) + " " + std::string(migration.name) + " sha256 " +
               std::string(migration.checksum));
}

void add_journal(Lines& out) {
  testing::RandomModel random(1);
  for (std::size_t index = 0; index < std::variant_size_v<EventBody>; ++index) {
    const EventBody event = random.make_event(index);
    storage::EventBody message;
    ASSERT_TRUE(message.ParseFromString(proto::encode_event(event)));
    out.insert("journal " + std::string(proto::event_kind(event)) + " " +
               number(static_cast<std::size_t>(message.body_case())));
  }
}

// --- numbers in stored messages that stand for a word

// The word of each enumerator as it was released; an enumerator renamed in the code keeps its word.
#define ARES_WORD(Type, enumerator, word)                                                      \
  out.insert("stored " #Type " " +                                                             \
             number(static_cast<std::size_t>(static_cast<unsigned>(Type::enumerator))) + " " + \
             std::string(word))

template <class T>
void add_words(const char* type, T last, Lines& out) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
    out.insert(std::string("stored ") + type + " " + number(i) + " " +
               std::string(to_string(static_cast<T>(i))));
}

void add_stored_words(Lines& out) {
  add_words("JobState", JobState::deadline, out);
  add_words("Reason", kLastReason, out);
  add_words("PlacementStrategy", kLastPlacementStrategy, out);
  add_words("PreemptMode", kLastPreemptMode, out);
  add_words("Recurrence", kLastRecurrence, out);
  add_words("GpuShape", kLastGpuShape, out);
  add_words("Enforce", kLastEnforce, out);
  for (const LimitRow& row : limit_table())
    out.insert("stored LimitKind " + number(static_cast<std::size_t>(row.kind)) + " " +
               std::string(row.name));
  ARES_WORD(Hold, none, "none");
  ARES_WORD(Hold, user, "user");
  ARES_WORD(Hold, admin, "admin");
  ARES_WORD(GpusPer, node, "node");
  ARES_WORD(GpusPer, job, "job");
  ARES_WORD(GpusPer, task, "task");
  ARES_WORD(DependencyKind, after_any, "afterany");
  ARES_WORD(DependencyKind, after_ok, "afterok");
  ARES_WORD(DependencyKind, after_not_ok, "afternotok");
  ARES_WORD(DependencyKind, after, "after");
  ARES_WORD(DependencyKind, after_corr, "aftercorr");
  ARES_WORD(DependencyKind, singleton, "singleton");
  ARES_WORD(OpenMode, truncate, "truncate");
  ARES_WORD(OpenMode, append, "append");
  ARES_WORD(AdminState, up, "up");
  ARES_WORD(AdminState, drain, "drain");
  ARES_WORD(AdminState, down, "down");
  ARES_WORD(Contact, never, "never");
  ARES_WORD(Contact, registered, "registered");
  ARES_WORD(Contact, lost, "lost");
  ARES_WORD(AttemptPhase, accepted, "accepted");
  ARES_WORD(AttemptPhase, ready, "ready");
  ARES_WORD(AttemptPhase, running, "running");
  ARES_WORD(AttemptPhase, done, "done");
  ARES_WORD(AttemptPhase, never_ran, "never_ran");
  ARES_WORD(AttemptPhase, lost, "lost");
  ARES_WORD(RecordKind, account, "account");
  ARES_WORD(RecordKind, user, "user");
  ARES_WORD(RecordKind, association, "association");
  ARES_WORD(RecordKind, qos, "qos");
  ARES_WORD(RecordKind, wckey, "wckey");
  ARES_WORD(ErrorCode, invalid_argument, "invalid_argument");
  ARES_WORD(ErrorCode, not_found, "not_found");
  ARES_WORD(ErrorCode, permission_denied, "permission_denied");
  ARES_WORD(ErrorCode, unauthenticated, "unauthenticated");
  ARES_WORD(ErrorCode, already_exists, "already_exists");
  ARES_WORD(ErrorCode, failed_precondition, "failed_precondition");
  ARES_WORD(ErrorCode, resource_exhausted, "resource_exhausted");
  ARES_WORD(ErrorCode, unavailable, "unavailable");
  ARES_WORD(ErrorCode, stale, "stale");
  ARES_WORD(ErrorCode, data_loss, "data_loss");
  ARES_WORD(ErrorCode, internal, "internal");
}
#undef ARES_WORD

// --- records of the spool and packets between aresd and aresstepd

// The keys of `key value` lines.
void add_keys(const std::string& prefix, const std::string& text, Lines& out) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.insert(prefix + " " + text.substr(at, std::min(text.find(' ', at), end) - at));
    at = end + 1;
  }
}

AttemptKey array_task() {
  return {{JobId(12), TaskIndex{3}}, AttemptNo(1)};
}

// Every optional field is set.
node::StepSpec full_step_spec() {
  auto job = std::make_shared<JobSpec>();
  job->memory_per_node = Bytes(1);
  job->memory_per_cpu = Bytes(1);
  job->reservations = {"r"};
  job->arguments = {"a"};
  job->gang = GangRequest{"g", 2, 0, std::nullopt};
  job->limits = {{1, 1}};
  job->binding = JobBinding{"h", 1, "c", "m", "g", "d"};
  node::StepSpec spec;
  LaunchSpec& launch = spec.launch;
  launch.attempt = array_task();
  launch.spec = job;
  launch.layout = std::make_shared<const NodeLayout>(
      std::vector<std::string>{"n1"}, std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{1});
  launch.share.cpu_ids = {0};
  launch.share.gpus = {GpuIndex(0)};
  launch.gpu_types = {"a100"};
  launch.time_limit = Seconds(1);
  launch.array_count = launch.array_min = launch.array_max = launch.array_step = 1;
  spec.user.groups = {GroupId(1)};
  spec.memory_limit = Bytes(1);
  spec.max_processes = 1;
  spec.denied_devices = {"c 195:0"};
  const IntervalSet one = parse_interval_set("1").value();
  spec.binding = {one, one, true, node::MemoryPolicy::bind, one, {"n"}, true};
  return spec;
}

void add_spool(Lines& out) {
  for (std::size_t i = 0; i < node::kRecordCount; ++i)
    out.insert("spool file " + std::string(node::file_name(static_cast<node::Record>(i))));
  out.insert("spool directory " + node::directory_name(array_task()));
  out.insert("spool directory " + node::directory_name({{JobId(12), TaskIndex{}}, AttemptNo(1)}));
  node::IntentRecord intent;
  intent.attempt = array_task();
  node::ExitRecord exit;
  exit.detail = "why";
  add_keys("spool identity", encode(node::NodeIdentity{}), out);
  add_keys("spool spec", encode(full_step_spec()), out);
  add_keys("spool intent", encode(intent), out);
  node::StartedRecord started;
  started.reaper_pid = 1;
  add_keys("spool started", encode(started), out);
  node::TaskRecord task;
  task.no_namespace_because = "why";
  add_keys("spool task", encode(task), out);
  add_keys("spool go", encode(node::GoRecord{}), out);
  add_keys("spool exit", encode(exit), out);
  add_keys("spool cancelled", encode(node::CancelledRecord{}), out);
  add_keys("spool gone", encode(node::GoneRecord{}), out);
  add_keys("spool restored", node::encode(std::optional<Restored>(Restored{})), out);
  add_keys("spool stopped", encode(node::StoppedRecord{}), out);
}

void add_packets(Lines& out) {
  const node::StepCommand commands[] = {node::StepGo{Fence(1), BootTime{}},
                                        node::StepKill{Fence(1), true, Seconds(1)},
                                        node::StepSignal{},
                                        node::StepSetLimit{Fence(1), Lsn(1), Seconds(1)},
                                        node::StepRenewLease{},
                                        node::StepSetSuspended{},
                                        node::StepCheckpointKnown{}};
  static_assert(std::size(commands) >= std::variant_size_v<node::StepCommand>,
                "a new command of supervisors goes into this list");
  for (const node::StepCommand& command : commands) {
    const std::string text = encode(command);
    const std::string first = text.substr(0, text.find('\n'));  // "command go"
    out.insert("packet " + first);
    add_keys("packet " + first.substr(first.find(' ') + 1), text, out);
  }
  for (const node::StepNotice notice :
       {node::StepNotice::ready, node::StepNotice::running, node::StepNotice::finished})
    out.insert("packet notice " + std::string(to_string(notice)));
}

// --- plugins

std::string type_name(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  const std::string name = status == 0 ? text : type.name();
  std::free(text);
  return name;
}

// Structs may grow at their end, so their sizes are not here.
#define ARES_FIELD(Struct, field)                                                           \
  out.insert("abi " #Struct "." #field " offset " + number(offsetof(Struct, field)) + " " + \
             type_name(typeid(decltype(Struct::field))))
#define ARES_CONSTANT(name) out.insert("abi " #name " " + std::to_string(name))

void add_exec_abi(Lines& out) {
  ARES_CONSTANT(ARES_EXEC_ABI_VERSION);
  out.insert("abi ARES_EXEC_ENTRY " ARES_EXEC_ENTRY_NAME);
  ARES_CONSTANT(ARES_EXEC_NO_TASK);
  ARES_CONSTANT(ARES_EXEC_NONE);
  ARES_CONSTANT(ARES_EXEC_ACCEPTED);
  ARES_CONSTANT(ARES_EXEC_READY);
  ARES_CONSTANT(ARES_EXEC_RUNNING);
  ARES_CONSTANT(ARES_EXEC_DONE);
  ARES_CONSTANT(ARES_EXEC_NEVER_RAN);
  ARES_CONSTANT(ARES_EXEC_LOST);
  ARES_CONSTANT(ARES_EXEC_OK);
  ARES_CONSTANT(ARES_EXEC_NODE_FAULT);
  ARES_CONSTANT(ARES_EXEC_JOB_FAULT);
  ARES_FIELD(ares_exec_key, job);
  ARES_FIELD(ares_exec_key, task);
  ARES_FIELD(ares_exec_key, attempt);
  ARES_FIELD(ares_exec_key, node);
  ARES_FIELD(ares_exec_text, data);
  ARES_FIELD(ares_exec_text, size);
  ARES_FIELD(ares_exec_report, size);
  ARES_FIELD(ares_exec_report, key);
  ARES_FIELD(ares_exec_report, fence);
  ARES_FIELD(ares_exec_report, phase);
  ARES_FIELD(ares_exec_report, exit_code);
  ARES_FIELD(ares_exec_report, exit_signal);
  ARES_FIELD(ares_exec_report, out_of_memory);
  ARES_FIELD(ares_exec_report, timed_out);
  ARES_FIELD(ares_exec_report, ran_since_us);
  ARES_FIELD(ares_exec_report, ended_at_us);
  ARES_FIELD(ares_exec_report, user_cpu_us);
  ARES_FIELD(ares_exec_report, system_cpu_us);
  ARES_FIELD(ares_exec_report, max_rss);
  ARES_FIELD(ares_exec_report, disk_read);
  ARES_FIELD(ares_exec_report, disk_written);
  ARES_FIELD(ares_exec_report, detail);
  ARES_FIELD(ares_exec_report, node_problem);
  ARES_FIELD(ares_exec_report, checkpoints);
  ARES_FIELD(ares_exec_report, restored);
  ARES_FIELD(ares_exec_report, stopped);
  ARES_FIELD(ares_exec_report, fault);
  ARES_FIELD(ares_exec_node_setup, size);
  ARES_FIELD(ares_exec_node_setup, node);
  ARES_FIELD(ares_exec_node_setup, name);
  ARES_FIELD(ares_exec_node_setup, spool);
  ARES_FIELD(ares_exec_node_setup, boot_id);
  ARES_FIELD(ares_exec_found_node, size);
  ARES_FIELD(ares_exec_found_node, name);
  ARES_FIELD(ares_exec_found_node, identity);
  ARES_FIELD(ares_exec_found_node, incarnation);
  ARES_FIELD(ares_exec_found_node, inventory);
  ARES_FIELD(ares_exec_found_node, problem);
  ARES_FIELD(ares_exec_found_node, gone);
  ARES_FIELD(ares_exec_host, size);
  ARES_FIELD(ares_exec_host, context);
  ARES_FIELD(ares_exec_host, changed);
  ARES_FIELD(ares_exec_host, launch_failed);
  ARES_FIELD(ares_exec_host, node_changed);
  ARES_FIELD(ares_exec_host, node_removed);
  ARES_FIELD(ares_exec_host, options);
  ARES_FIELD(ares_exec_host, say);
  ARES_FIELD(ares_exec_host, failed);
  ARES_FIELD(ares_exec_host, stop_fd);
  ARES_FIELD(ares_exec_launch, key);
  ARES_FIELD(ares_exec_launch, fence);
  ARES_FIELD(ares_exec_launch, spec);
  ARES_FIELD(ares_exec_launch, script);
  ARES_FIELD(ares_exec_launch, environment);
  ARES_FIELD(ares_exec_plugin, abi_version);
  ARES_FIELD(ares_exec_plugin, size);
  ARES_FIELD(ares_exec_plugin, name);
  ARES_FIELD(ares_exec_plugin, can_freeze);
  ARES_FIELD(ares_exec_plugin, open);
  ARES_FIELD(ares_exec_plugin, close);
  ARES_FIELD(ares_exec_plugin, add_node);
  ARES_FIELD(ares_exec_plugin, remove_node);
  ARES_FIELD(ares_exec_plugin, launch);
  ARES_FIELD(ares_exec_plugin, go);
  ARES_FIELD(ares_exec_plugin, kill);
  ARES_FIELD(ares_exec_plugin, signal);
  ARES_FIELD(ares_exec_plugin, set_limit);
  ARES_FIELD(ares_exec_plugin, renew_lease);
  ARES_FIELD(ares_exec_plugin, release);
  ARES_FIELD(ares_exec_plugin, list);
  ARES_FIELD(ares_exec_plugin, event_fd);
  ARES_FIELD(ares_exec_plugin, next_deadline_us);
  ARES_FIELD(ares_exec_plugin, dispatch);
  ARES_FIELD(ares_exec_plugin, set_suspended);
  ARES_FIELD(ares_exec_plugin, use_of);
  ARES_FIELD(ares_exec_plugin, checkpoint_known);
}

void add_sched_abi(Lines& out) {
  ARES_CONSTANT(ARES_SCHED_ABI_VERSION);
  out.insert("abi ARES_SCHED_ENTRY " ARES_SCHED_ENTRY_NAME);
  ARES_CONSTANT(ARES_SCHED_NO_TASK);
  ARES_CONSTANT(ARES_SCHED_UNLIMITED);
  ARES_CONSTANT(ARES_SCHED_LOOK_USER);
  ARES_CONSTANT(ARES_SCHED_LOOK_ACCOUNT);
  ARES_CONSTANT(ARES_SCHED_LOOK_QOS);
  ARES_CONSTANT(ARES_SCHED_LOOK_NAME);
  ARES_CONSTANT(ARES_SCHED_LOOK_COMMENT);
  ARES_CONSTANT(ARES_SCHED_LOOK_JOB_ID);
  ARES_CONSTANT(ARES_SCHED_LOOK_TIME_LIMIT);
  ARES_CONSTANT(ARES_SCHED_LOOK_NODE_FREE);
  ARES_CONSTANT(ARES_SCHED_PER_NODE);
  ARES_CONSTANT(ARES_SCHED_PER_TASK);
  ARES_CONSTANT(ARES_SCHED_IN_ALL);
  ARES_FIELD(ares_sched_gpus, size);
  ARES_FIELD(ares_sched_gpus, per);
  ARES_FIELD(ares_sched_gpus, count);
  ARES_FIELD(ares_sched_gpus, type);
  ARES_FIELD(ares_sched_gpus, part);
  ARES_FIELD(ares_sched_job, size);
  ARES_FIELD(ares_sched_job, partition);
  ARES_FIELD(ares_sched_job, min_nodes);
  ARES_FIELD(ares_sched_job, max_nodes);
  ARES_FIELD(ares_sched_job, tasks);
  ARES_FIELD(ares_sched_job, cpus_per_task);
  ARES_FIELD(ares_sched_job, tasks_per_node);
  ARES_FIELD(ares_sched_job, memory_per_node);
  ARES_FIELD(ares_sched_job, memory_per_cpu);
  ARES_FIELD(ares_sched_job, gpu_request_count);
  ARES_FIELD(ares_sched_job, gpu_requests);
  ARES_FIELD(ares_sched_job, min_nvlinks);
  ARES_FIELD(ares_sched_job, exclusive);
  ARES_FIELD(ares_sched_job, feature_count);
  ARES_FIELD(ares_sched_job, features);
  ARES_FIELD(ares_sched_job, id);
  ARES_FIELD(ares_sched_job, task);
  ARES_FIELD(ares_sched_job, uid);
  ARES_FIELD(ares_sched_job, user);
  ARES_FIELD(ares_sched_job, account);
  ARES_FIELD(ares_sched_job, qos);
  ARES_FIELD(ares_sched_job, name);
  ARES_FIELD(ares_sched_job, comment);
  ARES_FIELD(ares_sched_job, time_limit);
  ARES_FIELD(ares_sched_node, size);
  ARES_FIELD(ares_sched_node, name);
  ARES_FIELD(ares_sched_node, leaf);
  ARES_FIELD(ares_sched_node, cpus);
  ARES_FIELD(ares_sched_node, free_cpus);
  ARES_FIELD(ares_sched_node, memory);
  ARES_FIELD(ares_sched_node, free_memory);
  ARES_FIELD(ares_sched_node, feature_count);
  ARES_FIELD(ares_sched_node, features);
  ARES_FIELD(ares_sched_node, gpu_count);
  ARES_FIELD(ares_sched_node, gpu_indices);
  ARES_FIELD(ares_sched_node, gpu_types);
  ARES_FIELD(ares_sched_node, free_gpus);
  ARES_FIELD(ares_sched_node, nvlinks);
  ARES_FIELD(ares_sched_share, size);
  ARES_FIELD(ares_sched_share, node);
  ARES_FIELD(ares_sched_share, tasks);
  ARES_FIELD(ares_sched_share, cpus);
  ARES_FIELD(ares_sched_share, memory);
  ARES_FIELD(ares_sched_share, gpu_count);
  ARES_FIELD(ares_sched_share, gpus);
  ARES_FIELD(ares_sched_placement, size);
  ARES_FIELD(ares_sched_placement, job);
  ARES_FIELD(ares_sched_placement, share_count);
  ARES_FIELD(ares_sched_placement, shares);
  ARES_FIELD(ares_sched_option, key);
  ARES_FIELD(ares_sched_option, value);
  out.insert("abi ares_sched_option size " + number(sizeof(ares_sched_option)));
  ARES_FIELD(ares_sched_host, size);
  ARES_FIELD(ares_sched_host, name);
  ARES_FIELD(ares_sched_host, option_count);
  ARES_FIELD(ares_sched_host, options);
  ARES_FIELD(ares_sched_plugin, abi_version);
  ARES_FIELD(ares_sched_plugin, size);
  ARES_FIELD(ares_sched_plugin, looks_at);
  ARES_FIELD(ares_sched_plugin, open);
  ARES_FIELD(ares_sched_plugin, close);
  ARES_FIELD(ares_sched_plugin, filter);
  ARES_FIELD(ares_sched_plugin, score);
  ARES_FIELD(ares_sched_plugin, permit);
}
#undef ARES_FIELD
#undef ARES_CONSTANT

// --- ares.yaml

template <class Row>
void add_yaml(const std::string& section, const std::vector<Row>& rows, Lines& out) {
  for (const Row& row : rows) out.insert("yaml " + section + row.name);
}

void add_configuration(Lines& out) {
  for (const config::Section& section : config::sections()) out.insert("yaml " + section.name);
  add_yaml("", config::cluster_fields(), out);
  add_yaml("controller.", config::controller_fields(), out);
  add_yaml("database.", config::database_fields(), out);
  add_yaml("archive.", config::archive_fields(), out);
  add_yaml("retention.", config::retention_fields(), out);
  add_yaml("checkpoint.", config::checkpoint_fields(), out);
  add_yaml("checkpoint.s3.", config::checkpoint_s3_fields(), out);
  add_yaml("auth.", config::auth_fields(), out);
  add_yaml("policy.", config::policy_fields(), out);
  add_yaml("policy.preemption.", config::preemption_fields(), out);
  add_yaml("accounting.", config::accounting_fields(), out);
  add_yaml("nodes.", config::node_fields(), out);
  add_yaml("partitions.", config::partition_fields(), out);
  add_yaml("partitions.placement.", config::placement_fields(), out);
  add_yaml("fairness.", config::fairness_fields(), out);
  add_yaml("fairness.weights.", config::weight_fields(), out);
  add_yaml("fairness.tree.", config::account_fields(), out);
  add_yaml("scheduler.", config::scheduler_fields(), out);
  add_yaml("scheduler.plugins.", config::plugin_fields(), out);
  add_yaml("node.", config::node_daemon_fields(), out);
  add_yaml("node.mock.", config::mock_fields(), out);
  add_yaml("node.kubernetes.", config::kubernetes_fields(), out);
  add_yaml("log.", config::log_fields(), out);
  add_yaml("topologies.", config::network_fields(), out);
  add_yaml("topologies.tree.", config::switch_fields(), out);
  add_yaml("topologies.block.", config::block_fields(), out);
}

Lines names_of_this_version() {
  Lines out;
  add_migrations(out);
  add_journal(out);
  add_stored_words(out);
  add_spool(out);
  add_packets(out);
  add_exec_abi(out);
  add_sched_abi(out);
  add_configuration(out);
  return out;
}

Lines read_manifest(const fs::path& path) {
  std::ifstream file(path);
  Lines lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.insert(line);
  return lines;
}

// The structs of an interface may change with its version. A plugin of another version is refused by it, so its number
// and its place in the table stay.
struct PluginInterface {
  std::string_view version, structs;
};
constexpr PluginInterface kPluginInterfaces[] = {
    {"abi ARES_EXEC_ABI_VERSION ", "abi ares_exec_"},
    {"abi ARES_SCHED_ABI_VERSION ", "abi ares_sched_"},
};

TEST(Frozen, EveryVersionOfAnInterfaceTellsItsVersionFirst) {
  EXPECT_EQ(offsetof(ares_exec_plugin, abi_version), 0u);
  EXPECT_EQ(offsetof(ares_sched_plugin, abi_version), 0u);
}

std::vector<std::string> missing(const Lines& released, const Lines& now) {
  std::vector<std::string> out;
  std::set_difference(released.begin(), released.end(), now.begin(), now.end(),
                      std::back_inserter(out));
  for (const PluginInterface& interface : kPluginInterfaces)
    if (std::erase_if(out,
                      [&](const std::string& line) { return line.starts_with(interface.version); }))
      std::erase_if(out,
                    [&](const std::string& line) { return line.starts_with(interface.structs); });
  return out;
}

TEST(Frozen, NamesOfEveryReleaseStillExist) {
  int releases = 0;
  const Lines now = names_of_this_version();
  for (const auto& entry : fs::directory_iterator(ARES_SOURCE_DIR "/tests/replay")) {
    const fs::path manifest = entry.path() / "frozen.txt";
    if (!fs::exists(manifest)) continue;
    ++releases;
    const Lines released = read_manifest(manifest);
    EXPECT_GE(released.size(), 400u) << manifest << " is not whole";
    EXPECT_EQ(missing(released, now), std::vector<std::string>{})
        << "release " << entry.path().filename() << " stored, sent or published these names; they "
        << "stay (CONTRIBUTING.md, Frozen names)";
  }
  EXPECT_GE(releases, 1);
}

TEST(Frozen, ChangedAndRemovedNamesAreFoundAndAddedOnesAllowed) {
  const Lines released = {"journal Held 22", "spool go fence"};
  EXPECT_TRUE(missing(released, {"journal Held 22", "spool go at", "spool go fence"}).empty());
  EXPECT_EQ(missing(released, {"journal Held 23", "spool go fence"}),
            std::vector<std::string>{"journal Held 22"});
  EXPECT_EQ(missing(released, {"journal Held 22"}), std::vector<std::string>{"spool go fence"});
  const Lines plugins = {"abi ARES_EXEC_ABI_VERSION 2", "abi ares_exec_key.job offset 0 x",
                         "abi ares_sched_job.size offset 0 x"};
  EXPECT_EQ(missing(plugins, {"abi ARES_EXEC_ABI_VERSION 3"}),
            std::vector<std::string>{"abi ares_sched_job.size offset 0 x"});
  EXPECT_EQ(missing(plugins, {"abi ARES_EXEC_ABI_VERSION 2", "abi ares_sched_job.size offset 0 x"}),
            std::vector<std::string>{"abi ares_exec_key.job offset 0 x"});
}

TEST(Frozen, WritesTheNamesOfThisVersionWhenAsked) {
  const char* folder = std::getenv("ARES_WRITE_REPLAY");
  if (!folder) GTEST_SKIP() << "ARES_WRITE_REPLAY is not set";
  std::ofstream file(fs::path(folder) / "frozen.txt");
  for (const std::string& line : names_of_this_version()) file << line << '\n';
  ASSERT_TRUE(file.flush());
}

}  // namespace
}  // namespace ares
