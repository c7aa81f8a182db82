// actl: how words become requests, and completion in the interactive mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "actl/assign.h"
#include "actl/complete.h"
#include "actl/describe.h"
#include "actl/update_keys.h"
#include "cli/output/config_change.h"
#include "model/job/spec_table.h"

namespace ares::actl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

const Time kNow{std::chrono::hours{480'000}};

api::JobAction job_update(const std::vector<std::pair<std::string, std::string>>& all) {
  api::JobAction action;
  for (const auto& [name, value] : all) {
    const Status done = apply_key(job_keys(), action, name, value, kNow);
    EXPECT_TRUE(done) << done.error().message;
  }
  return action;
}

std::vector<std::string> fields(const api::JobAction& action) {
  return {action.fields().begin(), action.fields().end()};
}

TEST(UpdateKeys, EachFieldIsNamedAndParsed) {
  const api::JobAction action = job_update({{"partition", "a,b"},
                                            {"jobname", "x"},
                                            {"nice", "7"},
                                            {"numnodes", "2-4"},
                                            {"minmemorycpu", "1G"},
                                            {"requeue", "0"},
                                            {"starttime", "now+1hour"}});
  EXPECT_THAT(fields(action), ElementsAre("partitions", "name", "nice", "min_nodes", "max_nodes",
                                          "node_counts", "memory_per_cpu", "memory_per_node",
                                          "memory_per_gpu", "requeue", "begin"));
  const api::JobSpec& values = action.values();
  EXPECT_THAT(values.partitions(), ElementsAre("a", "b"));
  EXPECT_EQ(values.nice(), 7);
  EXPECT_EQ(values.max_nodes(), 4u);
  EXPECT_EQ(values.memory_per_cpu(), 1LL << 30);
  EXPECT_FALSE(values.has_memory_per_node()) << "set to none: one excludes the other";
  EXPECT_TRUE(values.has_requeue() && !values.requeue());
  EXPECT_EQ(values.begin(), (kNow + std::chrono::hours{1}).time_since_epoch().count());
}

TEST(UpdateKeys, TemporaryStorageIsThatOfEachNode) {
  const api::JobAction action = job_update({{"mintmpdisknode", "1000"}});
  EXPECT_THAT(fields(action), ElementsAre("tmp_disk"));
  EXPECT_EQ(action.values().tmp_disk(), 1000LL << 20);
}

TEST(UpdateKeys, ResourcesAreWrittenAsScontrolDoes) {
  const api::JobSpec values = job_update({{"tresperjob", "gres/gpu:a100:4"},
                                          {"trespernode", "gres:gpu:2"},
                                          {"trespertask", "cpu=3,gres/gpu=1"},
                                          {"cpuspertres", "gres/gpu:8"},
                                          {"mempertres", "gres/gpu:1024"}})
                                  .values();
  EXPECT_EQ(values.gpus_total(0).type(), "a100");
  EXPECT_EQ(values.gpus_total(0).count(), 4u);
  EXPECT_EQ(values.gpus_per_node(0).count(), 2u);
  EXPECT_EQ(values.gpus_per_task(0).count(), 1u);
  EXPECT_EQ(values.cpus_per_task(), 3u);
  EXPECT_EQ(values.cpus_per_gpu(), 8u);
  EXPECT_EQ(values.memory_per_gpu(), 1LL << 30);
  EXPECT_THAT(fields(job_update({{"trespertask", "gres/gpu:1"}})),
              ElementsAre("gpus_per_task", "gpu_alternatives", "alternatives_per"))
      << "its CPUs stay as they are";
  const api::JobAction none = job_update({{"tresperjob", "none"}});
  EXPECT_THAT(fields(none), testing::Contains("gpus_total"));
  EXPECT_TRUE(none.values().gpus_total().empty());
}

TEST(UpdateKeys, CpusOfATaskMayBeAFraction) {
  const api::JobAction half = job_update({{"cpuspertask", "0.5"}});
  EXPECT_EQ(half.values().cpus_per_task(), 1u);
  EXPECT_EQ(half.values().cpu_thousandths_per_task(), 500u);
  EXPECT_THAT(fields(half), ElementsAre("cpus_per_task", "cpu_thousandths_per_task"));
  EXPECT_THAT(fields(job_update({{"cpuspertask", "2"}})), ElementsAre("cpus_per_task"))
      << "the controller takes a fraction away";
}

// What a user could say at submission and may change can be changed by name.
TEST(UpdateKeys, EachFieldThatMayChangeHasAKey) {
  std::set<std::string> named;
  for (const auto& key : job_keys().rows) {
    api::JobAction action;
    for (const char* value : {"1", "0.5", "cpu=1", "gres/gpu:1"})
      if (const Status done = key.apply(action, value, kNow); !done) continue;
    for (const std::string& field : fields(action)) named.insert(field);
  }
  // Requests name the warning signal by a shorter name.
  if (named.contains("warning")) named.insert("warning_signal");
#define ARES_SPEC_FIELD(member, api_name, storage_name, kind, title, change, line)                \
  if (FieldChange::change != FieldChange::fixed && FieldChange::change != FieldChange::ambient) { \
    EXPECT_TRUE(named.contains(#api_name)) << #api_name;                                          \
  }
#include "model/job/spec_fields.def"
}

TEST(UpdateKeys, WhatStaysIsRefusedWithTheReason) {
  for (const RefusedKey& key : job_keys().refused) {
    EXPECT_GT(key.why.size(), 10u) << key.name;
    api::JobAction action;
    const Status done = apply_key(job_keys(), action, key.name, "1", kNow);
    ASSERT_FALSE(done) << key.name;
    EXPECT_THAT(done.error().message, HasSubstr("is not supported: " + key.why)) << key.name;
  }
}

TEST(UpdateKeys, TheManualSaysWhoMayChangeWhat) {
  std::string always, pending, all;
  for (const std::string& text : job_change_texts()) {
    if (text.starts_with("At any time: ")) always = text;
    if (text.starts_with("While it is pending: ")) pending = text;
    all += text + "\n";
  }
  for (const char* name : {"Comment", "Extra", "MailType"}) EXPECT_THAT(always, HasSubstr(name));
  for (const char* name : {"Partition", "TresPerJob", "Requeue", "OverSubscribe", "JobName"})
    EXPECT_THAT(pending, HasSubstr(name));
  EXPECT_THAT(always, Not(HasSubstr("Partition")));
  for (const auto& key : job_keys().rows) EXPECT_THAT(all, HasSubstr(key.name));
}

TEST(ShowJob, AnArrayWithoutWaitingTasksIsOnlyItsTasks) {
  api::Jobs jobs;
  const auto add = [&](std::uint64_t id, std::optional<std::uint32_t> task, const char* waiting) {
    api::Job* job = jobs.add_jobs();
    job->mutable_key()->set_job(id);
    if (task) job->mutable_key()->set_task(*task);
    job->mutable_spec()->set_array("1-3");
    job->set_array_tasks(waiting);
  };
  for (std::uint32_t task : {1, 2, 3}) add(12, task, "");
  add(12, {}, "");
  add(20, 1, "");
  add(20, {}, "2-3");
  add(30, {}, "");  // none of its tasks is known any more
  remove_divided_arrays(jobs);
  ASSERT_EQ(jobs.jobs_size(), 6);
  for (const api::Job& job : jobs.jobs())
    EXPECT_TRUE(job.key().has_task() || job.key().job() != 12u) << job.key().job();
}

TEST(UpdateKeys, EmptyValuesClearFields) {
  const api::JobAction action =
      job_update({{"dependency", ""}, {"features", ""}, {"reqnodelist", ""}, {"starttime", "now"}});
  EXPECT_THAT(fields(action),
              ElementsAre("dependencies", "any_dependency", "features", "required_nodes", "begin"));
  EXPECT_FALSE(action.values().has_begin());
  EXPECT_EQ(action.values().dependencies_size(), 0);
}

// The engine takes over the fields that are named, and no others.
TEST(UpdateKeys, EachFieldThatAKeySetsIsNamed) {
  const std::vector<std::string> samples = {"lic:2", "a:2", "1",         "yes",  "exclusive",
                                            "/x",    "now", "singleton", "block"};
  for (const auto& row : job_keys().rows) {
    for (const std::string& sample : samples) {
      api::JobAction action;
      if (!apply_key(job_keys(), action, row.name, sample, kNow)) continue;
      std::vector<const google::protobuf::FieldDescriptor*> set;
      action.values().GetReflection()->ListFields(action.values(), &set);
      for (const auto* field : set)
        EXPECT_THAT(fields(action), testing::Contains(field->name())) << row.name << '=' << sample;
    }
  }
  EXPECT_THAT(fields(job_update({{"licenses", "lic:2"}})), ElementsAre("licenses", "any_license"));
}

TEST(UpdateKeys, WorkingDirectoryIsAnAbsolutePath) {
  api::JobAction action;
  EXPECT_FALSE(apply_key(job_keys(), action, "workdir", "here", kNow));
  EXPECT_EQ(job_update({{"workdir", "/here"}}).values().work_dir(), "/here");
}

TEST(UpdateKeys, LimitPriorityAndThrottleHaveTheirFields) {
  const api::JobAction action =
      job_update({{"timelimit", "1:00:00"}, {"priority", "9"}, {"arraytaskthrottle", "0"}});
  EXPECT_TRUE(action.fields().empty());
  EXPECT_EQ(action.time_limit(), 3600);
  EXPECT_EQ(action.priority(), 9u);
  EXPECT_TRUE(action.has_array_throttle());
  EXPECT_EQ(job_update({{"timelimit", "UNLIMITED"}}).time_limit(), 0);
}

TEST(UpdateKeys, PartitionStatesAreTwoFlags) {
  api::UpdatePartition update;
  ASSERT_TRUE(apply_key(partition_keys(), update, "state", "DRAIN", kNow));
  ASSERT_TRUE(apply_key(partition_keys(), update, "maxtime", "UNLIMITED", kNow));
  ASSERT_TRUE(apply_key(partition_keys(), update, "maxnodes", "3", kNow));
  EXPECT_THAT(update.fields(), ElementsAre("up", "open", "max_time", "max_nodes"));
  EXPECT_TRUE(update.values().up());
  EXPECT_FALSE(update.values().open());
  EXPECT_FALSE(update.values().has_max_time());
  EXPECT_EQ(update.values().max_nodes(), 3u);
}

TEST(UpdateKeys, NamesAreUnique) {
  std::set<std::string> seen;
  for (const auto& row : job_keys().rows) {
    EXPECT_TRUE(seen.insert(cli::lower(row.name)).second) << row.name;
    for (const std::string& alias : row.aliases) EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
}

TEST(UpdateKeys, NamesOfScontrolAreAcceptedOrRefusedByName) {
  std::set<std::string> rows, seen;
  for (const auto& row : job_keys().rows) {
    rows.insert(cli::lower(row.name));
    rows.insert(row.aliases.begin(), row.aliases.end());
  }
  for (const std::string& name : job_keys().of_scontrol) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    if (rows.contains(name)) continue;
    api::JobAction action;
    const Status refused = apply_key(job_keys(), action, name, "x", kNow);
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().message, HasSubstr(name));
  }
  api::JobAction action;
  EXPECT_TRUE(apply_key(job_keys(), action, "extra", "x", kNow));
}

TEST(Assignments, ReasonWithoutQuotesContinues) {
  const auto all = assignments({"State=drain", "Reason=fan", "is", "broken"});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[1].key, "reason");
  EXPECT_EQ((*all)[1].value, "fan is broken");
  EXPECT_FALSE(assignments({"TimeLimit+=5"}));
  EXPECT_FALSE(assignments({"hello"}));
  EXPECT_THAT(join_subject({"job", "12", "nice=1"}), ElementsAre("job=12", "nice=1"));
}

std::vector<std::string> offered(const std::string& line) {
  const std::size_t start = line.find_last_of(" =,") + 1;
  return complete(line, start, [](Names names) -> std::vector<std::string> {
    switch (names) {
      case Names::jobs: return {"7", "12_3"};
      case Names::nodes: return {"n1", "n2", "gpu1"};
      case Names::partitions: return {"main", "night"};
      case Names::reservations: break;
      case Names::none: break;
    }
    return {};
  });
}

TEST(Complete, CommandsAndTheirSecondWords) {
  EXPECT_THAT(offered("re"),
              ElementsAre("reboot", "reconfigure", "release", "requeue", "requeuehold", "resume"));
  EXPECT_THAT(offered("sh"), ElementsAre("show", "shutdown"));
  EXPECT_THAT(offered("show part"), ElementsAre("partition", "partitions"));
  EXPECT_THAT(offered("SHOW no"), ElementsAre("node", "nodes"));
  EXPECT_THAT(offered("write "), ElementsAre("batch_script"));
  EXPECT_THAT(offered("nonsense x"), ElementsAre());
}

TEST(Complete, NamesThatTheCommandTakes) {
  EXPECT_THAT(offered("show node n"), ElementsAre("n1", "n2"));
  EXPECT_THAT(offered("drain n1,g"), ElementsAre("gpu1"));
  EXPECT_THAT(offered("hold 1"), ElementsAre("12_3"));
  EXPECT_THAT(offered("show partition "), ElementsAre("main", "night"));
  EXPECT_THAT(offered("ping "), ElementsAre());
}

TEST(Complete, PropertiesAndTheirValues) {
  EXPECT_THAT(offered("update "),
              ElementsAre("jobid=", "nodename=", "partitionname=", "reservationname=", "stepid="));
  EXPECT_THAT(offered("update jobid="), UnorderedElementsAre("7", "12_3"));
  EXPECT_THAT(offered("update jobid=7 time"), ElementsAre("TimeLimit=", "TimeMin="));
  EXPECT_THAT(offered("update jobid=7 partition=n"), ElementsAre("night"));
  EXPECT_THAT(offered("update nodename=n1 state="),
              ElementsAre("down", "drain", "fail", "resume", "undrain"));
  EXPECT_THAT(offered("update partitionname=main sta"), ElementsAre("State="));
  EXPECT_THAT(offered("update partitionname=main State=i"), ElementsAre("inactive"));
  EXPECT_THAT(offered("update jobid=7 excnodelist=n1,g"), ElementsAre("gpu1"));
}

TEST(Describe, FileNamesAreExpandedAsFarAsKnown) {
  api::Job job;
  job.mutable_key()->set_job(12);
  job.set_own_id(12);
  job.set_name("a/b");
  job.mutable_spec()->set_work_dir("/w");
  job.mutable_spec()->set_std_out("%x-%j-%N-%a.log");
  EXPECT_THAT(describe(job, kNow, false), HasSubstr("StdOut=/w/a_b-12-%N-0.log\n"));
  job.set_node_list("n[2-3]");
  EXPECT_THAT(describe(job, kNow, false), HasSubstr("StdOut=/w/a_b-12-n2-0.log\n"));
  job.mutable_spec()->set_array("0-9");
  EXPECT_THAT(describe(job, kNow, false), HasSubstr("StdOut=/w/a_b-%j-n2-%a.log\n"));
  job.mutable_spec()->clear_std_out();
  job.mutable_key()->set_task(4);
  job.set_own_id(17);
  EXPECT_THAT(describe(job, kNow, false), HasSubstr("StdOut=/w/ares-12_4.out\n"));
}

TEST(Describe, GpusStandUnderWhatTheyCountFor) {
  api::Job job;
  job.mutable_key()->set_job(3);
  job.add_gpus("a100:4");
  job.mutable_spec()->add_gpus_total()->set_count(4);
  EXPECT_THAT(describe(job, kNow, false), HasSubstr(" TresPerJob=gres/gpu:a100:4\n"));
  job.mutable_spec()->clear_gpus_total();
  job.mutable_spec()->add_gpus_per_task()->set_count(4);
  EXPECT_THAT(describe(job, kNow, false), HasSubstr(" TresPerTask=gres/gpu:a100:4\n"));
  EXPECT_THAT(describe(job, kNow, false), HasSubstr(" CPUs/Task=1\n"));
  job.mutable_spec()->set_cpu_thousandths_per_task(490);
  EXPECT_THAT(describe(job, kNow, false), HasSubstr(" CPUs/Task=0.49\n"));
  job.mutable_spec()->clear_gpus_per_task();
  job.mutable_spec()->add_gpus_per_node()->set_count(4);
  EXPECT_THAT(describe(job, kNow, false), HasSubstr(" TresPerNode=gres/gpu:a100:4\n"));
}

TEST(Describe, DetailsShowTheShareOfEachNode) {
  api::Job job;
  job.mutable_key()->set_job(3);
  api::NodeShare* share = job.add_shares();
  share->set_node("n1");
  share->set_cpus(2);
  EXPECT_THAT(describe(job, kNow, false), Not(HasSubstr("Node=n1")));
  EXPECT_THAT(describe(job, kNow, false, true), HasSubstr("Node=n1 CPUs=2 "));
}

TEST(Describe, PartitionsSumUpTheirNodes) {
  api::Partition partition;
  partition.set_name("gpu");
  partition.set_state("INACTIVE");
  api::Nodes nodes;
  for (int i = 0; i < 3; ++i) {
    api::Node* node = nodes.add_nodes();
    node->set_cpus(4);
    node->set_memory(1LL << 30);
    node->add_gpus()->set_type("a100");
    node->add_partitions(i < 2 ? "gpu" : "main");
  }
  const std::string text = describe(partition, nodes, true);
  EXPECT_THAT(text, HasSubstr("State=INACTIVE"));
  EXPECT_THAT(text, HasSubstr("TotalCPUs=8 TotalNodes=2"));
  EXPECT_THAT(text, HasSubstr("TRES=cpu=8,mem=2G,node=2,gres/gpu=2,gres/gpu:a100=2"));
}

TEST(ConfigChange, TextSaysWhenItTakesEffect) {
  api::ConfigChange change;
  change.set_subject("partition main");
  change.set_field("state");
  change.set_before("down");
  change.set_after("up");
  change.set_undoes_command(true);
  EXPECT_EQ(cli::change_text(change), "partition main: state: down -> up (undoes a command)");
  change.set_undoes_command(false);
  change.set_effect(api::ConfigChange::CONTROLLER_RESTART);
  EXPECT_EQ(cli::change_text(change),
            "partition main: state: down -> up (when aresctld is restarted)");
}

}  // namespace
}  // namespace ares::actl
