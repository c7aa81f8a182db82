// Tests: job_values, field_setters, field_value
#include "submit/fields/job_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "submit/fields/job_values.h"

namespace ares::submit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& name, const FieldValue& value) {
  api::JobSpec spec;
  const Status good = apply(spec, {{name, value}});
  return good ? "accepted" : good.error().message;
}

FieldValue after(const std::string& name, const FieldValue& value) {
  api::JobSpec spec;
  const Status good = apply(spec, {{name, value}});
  EXPECT_TRUE(good) << name << ": " << good.error().message;
  return values_of(spec).at(name);
}

TEST(JobFields, NothingThatIsNotSetHasAValue) {
  const FieldValues values = values_of(api::JobSpec());
  EXPECT_EQ(values.at("time_limit"), FieldValue(kNoVal));
  EXPECT_EQ(values.at("cpus_per_task"), FieldValue(kNoVal16));
  EXPECT_EQ(values.at("pn_min_memory"), FieldValue(kNoVal64));
  EXPECT_EQ(values.at("account"), FieldValue());
  EXPECT_EQ(values.at("min_mem_per_cpu"), FieldValue());
  EXPECT_EQ(values.at("begin_time"), FieldValue(0.0));
}

TEST(JobFields, AFractionOfACpuIsReadRoundedUpAndEndsWhenCpusAreSet) {
  api::JobSpec spec;
  spec.set_cpus_per_task(2);
  spec.set_cpu_thousandths_per_task(1500);
  EXPECT_EQ(values_of(spec).at("cpus_per_task"), FieldValue(2.0));
  ASSERT_TRUE(apply(spec, {{"cpus_per_task", 2.0}}));
  EXPECT_EQ(spec.cpus_per_task(), 2u);
  EXPECT_EQ(spec.cpu_thousandths_per_task(), 0u);
}

// What is set can be read, and set to what was read changes nothing.
TEST(JobFields, ValuesSurvive) {
  const FieldValues given = {
      {"account", std::string("chem")},
      {"array_inx", std::string("0-9%2")},
      {"begin_time", 1'700'000'000.0},
      {"comment", std::string("text")},
      {"cpus_per_task", 4.0},
      {"cpus_per_tres", std::string("gres/gpu:8")},
      {"deadline", 1'800'000'000.0},
      {"dependency", std::string("afterok:7")},
      {"exc_nodes", std::string("n[1-3]")},
      {"extra", std::string("{\"run\": 7}")},
      {"features", std::string("a&b")},
      {"licenses", std::string("matlab:2")},
      {"mail_type", std::string("BEGIN,END")},
      {"mail_user", std::string("ann,webhook:ops")},
      {"max_nodes", 4.0},
      {"mem_per_tres", std::string("gres/gpu:1024")},
      {"min_nodes", 2.0},
      {"name", std::string("job")},
      {"nice", -5.0},
      {"ntasks_per_node", 3.0},
      {"num_tasks", 8.0},
      {"partition", std::string("a,b")},
      {"pn_min_memory", 4096.0},
      {"prefer", std::string("fast")},
      {"priority", 100.0},
      {"qos", std::string("high")},
      {"req_nodes", std::string("n4")},
      {"requeue", 0.0},
      {"reservation", std::string("r1")},
      {"shared", 0.0},
      {"std_err", std::string("e")},
      {"std_in", std::string("/dev/zero")},
      {"std_out", std::string("o-%j")},
      {"time_limit", 90.0},
      {"time_min", 30.0},
      {"tres_per_job", std::string("gres/gpu:a100:4")},
      {"tres_per_node", std::string("gres/gpu:2")},
      {"tres_per_task", std::string("gres/gpu:1")},
      {"wckey", std::string("w")},
      {"work_dir", std::string("/work")},
  };
  for (const auto& [name, value] : given) {
    EXPECT_EQ(after(name, value), value) << name;
    api::JobSpec once, twice;
    ASSERT_TRUE(apply(once, {{name, value}}));
    twice = once;
    ASSERT_TRUE(apply(twice, {{name, values_of(once).at(name)}}));
    EXPECT_EQ(once.SerializeAsString(), twice.SerializeAsString()) << name;
    // And it can be taken back.
    ASSERT_TRUE(name == "work_dir" || apply(twice, {{name, {}}})) << name;
  }
  for (const JobField& field : job_fields()) {
    const bool alias = field.name == "gres" || field.name == "oversubscribe" ||
                       field.name.starts_with("min_mem_per");
    EXPECT_EQ(field.set != nullptr, given.contains(field.name) || alias) << field.name;
  }
}

TEST(JobFields, SpecialNumbers) {
  EXPECT_EQ(after("time_limit", kInfinite), FieldValue(kInfinite));
  EXPECT_EQ(after("time_limit", std::string("1-0")), FieldValue(1440.0));
  EXPECT_EQ(after("priority", 0.0), FieldValue(0.0));
  EXPECT_EQ(after("gres", std::string("gpu:2")), FieldValue(std::string("gpu:2")));
  EXPECT_EQ(after("shared", 2.0), FieldValue(2.0));
  EXPECT_EQ(after("requeue", true), FieldValue(1.0));
  EXPECT_EQ(after("time_limit", 65534.0), FieldValue(65534.0))
      << "NO_VAL16 is of short fields only";
  EXPECT_EQ(after("cpus_per_task", kNoVal16), FieldValue(kNoVal16));
  EXPECT_EQ(after("pn_min_memory", 4096.0 / 3), FieldValue(1365.0)) << "cut, as in Slurm";
  EXPECT_THAT(refusal("pn_min_memory", 9223372036854775808.0), HasSubstr("min_mem_per_cpu"));
}

TEST(JobFields, WrongValuesAreNamed) {
  EXPECT_THAT(refusal("time_limit", std::string("soon")), HasSubstr("job_desc.time_limit: "));
  EXPECT_THAT(refusal("num_tasks", -1.0), HasSubstr("job_desc.num_tasks: "));
  EXPECT_THAT(refusal("comment", std::string("a\nb")), HasSubstr("control character"));
  EXPECT_THAT(refusal("user_id", 0.0), HasSubstr("job_desc.user_id cannot be set"));
  EXPECT_THAT(refusal("work_dir", std::string("tmp")), HasSubstr("no absolute path"));
  EXPECT_THAT(refusal("tres_per_job", std::string("license:1")), HasSubstr("gres/gpu"));
  // Options of asub take a path there, whose file would be read as the controller's user.
  EXPECT_THAT(refusal("req_nodes", std::string("/etc/shadow")), HasSubstr("no /"));
}

TEST(JobFields, ChangesOfJobs) {
  api::JobAction action;
  action.set_kind(api::JobAction::UPDATE);
  action.set_time_limit(3600);
  action.add_fields("partitions");
  action.mutable_values()->add_partitions("main");
  FieldValues values = values_of(action);
  EXPECT_EQ(values.at("time_limit"), FieldValue(60.0));
  EXPECT_EQ(values.at("partition"), FieldValue(std::string("main")));
  EXPECT_EQ(values.at("account"), FieldValue());
  ASSERT_TRUE(
      apply(action, {{"time_limit", 30.0}, {"account", std::string("chem")}, {"priority", 0.0}}));
  EXPECT_EQ(action.time_limit(), 1800);
  EXPECT_EQ(action.priority(), 0u);
  EXPECT_TRUE(action.has_priority());
  EXPECT_THAT(action.fields(), testing::UnorderedElementsAre("partitions", "account"));
  EXPECT_EQ(action.values().account(), "chem");
  EXPECT_FALSE(action.values().has_time_limit());
  EXPECT_FALSE(apply(action, {{"array_inx", std::string("0-1")}}));
  // NO_VAL and nothing are no change; an empty text takes the value back.
  ASSERT_TRUE(
      apply(action, {{"partition", {}}, {"time_limit", kNoVal}, {"account", std::string()}}));
  EXPECT_THAT(action.fields(), ElementsAre("account"));
  EXPECT_FALSE(action.has_time_limit());
  EXPECT_EQ(values_of(action).at("account"), FieldValue(std::string()));
  EXPECT_EQ(values_of(action).at("qos"), FieldValue());
}

TEST(JobFields, WhatIsTakenBackLeavesOthersAlone) {
  api::JobSpec spec;
  ASSERT_TRUE(apply(spec, {{"pn_min_memory", 1000.0}, {"tres_per_node", std::string("gpu:2")}}));
  ASSERT_TRUE(apply(spec, {{"min_mem_per_cpu", 500.0},
                           {"min_mem_per_node", {}},
                           {"tres_per_job", std::string("gres/gpu:4")},
                           {"tres_per_node", {}}}));
  EXPECT_EQ(values_of(spec).at("min_mem_per_cpu"), FieldValue(500.0));
  EXPECT_EQ(values_of(spec).at("tres_per_job"), FieldValue(std::string("gres/gpu:4")));
  EXPECT_EQ(values_of(spec).at("tres_per_node"), FieldValue());
}

TEST(JobFields, Environment) {
  const std::string before("A=1\0B=2=3\0C=\0", 13);
  EXPECT_THAT(variables_of(before), ElementsAre(testing::Pair("A", "1"), testing::Pair("B", "2=3"),
                                                testing::Pair("C", "")));
  const auto after =
      changed_environment(before, {{"B", {}}, {"A", std::string("x")}, {"D", std::string("4")}});
  ASSERT_TRUE(after);
  EXPECT_THAT(variables_of(*after), ElementsAre(testing::Pair("A", "x"), testing::Pair("C", ""),
                                                testing::Pair("D", "4")));
  EXPECT_EQ(*changed_environment(before, {}), before);
  EXPECT_FALSE(changed_environment(before, {{"X=Y", std::string("1")}}));
}

TEST(JobFields, Partitions) {
  api::Partition partition;
  partition.set_name("main");
  partition.set_is_default(true);
  partition.set_max_time(5400);
  const FieldValues values = values_of(partition);
  EXPECT_EQ(values.at("name"), FieldValue(std::string("main")));
  EXPECT_EQ(values.at("max_time"), FieldValue(90.0));
  EXPECT_EQ(values.at("default_time"), FieldValue(kNoVal));
  EXPECT_EQ(values.at("max_nodes"), FieldValue(kInfinite));
}

}  // namespace
}  // namespace ares::submit
