// Tests: api_reader, convert_spec, spec_table, spec_walk, text_kind
#include "proto/convert.h"

#include <gtest/gtest.h>

#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"
#include "unit/proto/convert_random.h"

namespace ares::proto {
namespace {

api::JobSpec to_wire(const JobSpec& spec) {
  api::JobSpec wire;
  to_api(spec, &wire);
  return wire;
}

TEST(ConvertJobSpec, RoundTrips) {
  testing::RandomWire random(1);
  for (int i = 0; i < 2000; ++i) {
    const JobSpec spec = random.job_spec();
    api::JobSpec arrived;
    ASSERT_TRUE(arrived.ParseFromString(to_wire(spec).SerializeAsString()))
        << "a path that is not UTF-8 must not make the message unreadable";
    auto back = from_api(arrived);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(*back, spec);
  }
}

// Each field that is added to the message must be set by the conversion.
TEST(ConvertJobSpec, SetsEveryFieldOfTheMessage) {
  testing::RandomWire random(2);
  std::set<std::string> unset;
  const auto* descriptor = api::JobSpec::descriptor();
  for (int f = 0; f < descriptor->field_count(); ++f) unset.insert(descriptor->field(f)->name());
  for (int i = 0; i < 200; ++i) {
    const api::JobSpec wire = to_wire(random.job_spec());
    std::vector<const google::protobuf::FieldDescriptor*> set;
    wire.GetReflection()->ListFields(wire, &set);
    for (const auto* field : set) unset.erase(field->name());
  }
  EXPECT_EQ(unset, std::set<std::string>{});
}

TEST(ConvertJobSpec, AbsentRequeueIsTheDefaultOfTheSite) {
  api::JobSpec wire = to_wire(JobSpec{});
  wire.clear_requeue();
  EXPECT_TRUE(from_api(wire, true)->requeue);
  EXPECT_FALSE(from_api(wire, false)->requeue);
  wire.set_requeue(true);
  EXPECT_TRUE(from_api(wire, false)->requeue);
}

TEST(ConvertJobSpec, EmptyArrayIsAbsent) {
  EXPECT_EQ(from_api(to_wire(JobSpec{}))->array, std::nullopt);
}

struct Wrong {
  const char* name;
  void (*spoil)(api::JobSpec&);
  const char* expected;
};
const Wrong kWrong[] = {
    {"negative memory", [](auto& s) { s.set_memory_per_node(-1); }, "memory_per_node is negative"},
    {"negative memory per cpu", [](auto& s) { s.set_memory_per_cpu(-1); },
     "memory_per_cpu is negative"},
    {"negative time", [](auto& s) { s.set_time_limit(-60); }, "time_limit is negative"},
    {"endless time", [](auto& s) { s.set_time_limit(INT64_MAX); }, "time_limit is too long"},
    {"endless wait", [](auto& s) { s.set_switches_wait(INT64_MAX); }, "switches_wait is too long"},
    {"negative begin", [](auto& s) { s.set_begin(-1); }, "begin is negative"},
    {"endless begin", [](auto& s) { s.set_begin(INT64_MAX); }, "begin is too long"},
    {"long name", [](auto& s) { s.set_name(std::string(1025, 'x')); },
     "name has 1025 bytes; at most 1024"},
    {"escape in the name", [](auto& s) { s.set_name("a\x1b[2J"); },
     "name contains a control character"},
    {"newline in the account", [](auto& s) { s.set_account("a\nb"); },
     "account contains a control character"},
    {"newline in a partition", [](auto& s) { s.add_partitions("a\nb"); },
     "partitions contains a control character"},
    {"bell in the comment", [](auto& s) { s.set_comment("\a"); },
     "comment contains a control character"},
    {"long path", [](auto& s) { s.set_work_dir("/" + std::string(4095, 'x')); },
     "work_dir has 4096 bytes; at most 4095"},
    {"newline in a path", [](auto& s) { s.set_std_out("/a\nb"); },
     "std_out contains a control character"},
    {"NUL in an argument", [](auto& s) { s.add_arguments(std::string("a\0b", 3)); },
     "arguments contains a NUL"},
    {"short digest", [](auto& s) { s.set_script("abc"); }, "script is no digest"},
    {"long digest", [](auto& s) { s.set_environment(std::string(33, 'x')); },
     "environment is no digest"},
    {"array", [](auto& s) { s.set_array("3-1"); }, "array"},
    {"array of gaps", [](auto& s) { s.set_array("0-20000:2"); }, "at most 10000 separate ranges"},
    {"node counts of gaps", [](auto& s) { s.set_node_counts("1-2001:2"); },
     "at most 1000 separate ranges"},
    {"umask", [](auto& s) { s.set_umask(01000); }, "umask is more than 0777"},
    {"limit", [](auto& s) { s.add_limits()->set_resource(-1); }, "limits names a negative"},
    {"dependency on nothing", [](auto& s) { s.add_dependencies(); }, "dependencies job id 0"},
    {"dependency of a new kind",
     [](auto& s) { s.add_dependencies()->set_kind(static_cast<api::Dependency::Kind>(99)); },
     "dependencies has a kind"},
    {"gpu type", [](auto& s) { s.add_gpus_total()->set_type("\n"); }, "gpus_total contains"},
};

TEST(ConvertJobSpec, ErrorsAreNamed) {
  for (const Wrong& wrong : kWrong) {
    api::JobSpec wire = to_wire(JobSpec{});
    wrong.spoil(wire);
    auto spec = from_api(wire);
    ASSERT_FALSE(spec) << wrong.name;
    EXPECT_EQ(spec.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(spec.error().message.starts_with("job specification: ")) << spec.error().message;
    EXPECT_NE(spec.error().message.find(wrong.expected), std::string::npos)
        << wrong.name << ": " << spec.error().message;
  }
}

TEST(ConvertJobKey, IdZeroIsRefused) {
  api::JobRef ref;
  EXPECT_FALSE(from_api(ref));
  ref.set_job(1);
  EXPECT_EQ(from_api(ref).value(), (JobKey{JobId(1), {}}));
  ref.set_task(0);
  EXPECT_EQ(from_api(ref).value(), (JobKey{JobId(1), TaskIndex{0}}));
  ref.set_task(TaskIndex::kNone);
  EXPECT_FALSE(from_api(ref));
  api::AttemptKey attempt;
  attempt.mutable_job()->set_job(1);
  EXPECT_FALSE(from_api(attempt));
  attempt.set_attempt(3);
  EXPECT_EQ(from_api(attempt).value(), (AttemptKey{{JobId(1), {}}, AttemptNo(3)}));
}

}  // namespace
}  // namespace ares::proto
