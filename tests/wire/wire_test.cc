// Later programs must understand what released ones send and store: each NAME.desc in this folder
// is the descriptor set of a release (in libcommon/proto: protoc --descriptor_set_out=NAME.desc
// *.proto). The current messages may have additions, but must have everything that is in it.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "proto/gen/accounts.pb.h"
#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"
#include "proto/gen/storage.pb.h"

namespace ares {
namespace {

namespace pb = google::protobuf;
using Problems = std::vector<std::string>;

// A string may become bytes: on the wire they are the same, and bytes accept more.
bool reads(const pb::FieldDescriptor& now, const pb::FieldDescriptor& then) {
  if (now.type() == then.type()) return true;
  return then.type() == pb::FieldDescriptor::TYPE_STRING &&
         now.type() == pb::FieldDescriptor::TYPE_BYTES;
}

const pb::OneofDescriptor* choice(const pb::FieldDescriptor& field) {
  return field.real_containing_oneof();
}

void compare(const pb::FieldDescriptor& then, const pb::Descriptor& message, Problems& problems) {
  const std::string name = then.full_name() + " = " + std::to_string(then.number());
  const pb::FieldDescriptor* now = message.FindFieldByNumber(then.number());
  if (!now) return problems.push_back(name + " was removed or renumbered");
  if (now->name() != then.name()) problems.push_back(name + " is now called " + now->name());
  if (!reads(*now, then)) problems.push_back(name + " has another type");
  if (now->is_repeated() != then.is_repeated())
    problems.push_back(name + " is repeated or no longer is");
  if (now->has_presence() != then.has_presence() && then.has_presence())
    problems.push_back(name + " can no longer be absent");
  if ((choice(*now) == nullptr) != (choice(then) == nullptr))
    problems.push_back(name + " moved into or out of a oneof");
  if (then.message_type() && now->message_type() &&
      then.message_type()->full_name() != now->message_type()->full_name())
    problems.push_back(name + " is of another message");
}

void compare(const pb::EnumDescriptor& then, const pb::EnumDescriptor* now, Problems& problems) {
  if (!now) return problems.push_back("enum " + then.full_name() + " was removed");
  for (int i = 0; i < then.value_count(); ++i) {
    const pb::EnumValueDescriptor* value = now->FindValueByNumber(then.value(i)->number());
    if (!value || value->name() != then.value(i)->name())
      problems.push_back(then.value(i)->full_name() + " was removed or renumbered");
  }
}

void compare(const pb::Descriptor& then, const pb::DescriptorPool& pool, Problems& problems) {
  const pb::Descriptor* now = pool.FindMessageTypeByName(then.full_name());
  if (!now) return problems.push_back("message " + then.full_name() + " was removed");
  for (int i = 0; i < then.field_count(); ++i) compare(*then.field(i), *now, problems);
  for (int i = 0; i < then.enum_type_count(); ++i)
    compare(*then.enum_type(i), pool.FindEnumTypeByName(then.enum_type(i)->full_name()), problems);
  for (int i = 0; i < then.nested_type_count(); ++i) compare(*then.nested_type(i), pool, problems);
}

void compare(const pb::ServiceDescriptor& then, const pb::DescriptorPool& pool,
             Problems& problems) {
  for (int i = 0; i < then.method_count(); ++i) {
    const pb::MethodDescriptor& method = *then.method(i);
    const pb::MethodDescriptor* now = pool.FindMethodByName(method.full_name());
    if (!now || now->client_streaming() != method.client_streaming() ||
        now->server_streaming() != method.server_streaming() ||
        now->input_type()->full_name() != method.input_type()->full_name() ||
        now->output_type()->full_name() != method.output_type()->full_name())
      problems.push_back("call " + method.full_name() + " was removed or changed");
  }
}

void build(const pb::FileDescriptorSet& files, pb::DescriptorPool& pool) {
  for (const auto& file : files.file()) ASSERT_TRUE(pool.BuildFile(file)) << file.name();
}

Problems broken_promises(const pb::FileDescriptorSet& then, const pb::DescriptorPool& now) {
  pb::DescriptorPool old;
  build(then, old);
  Problems problems;
  for (const auto& proto : then.file()) {
    const pb::FileDescriptor& file = *old.FindFileByName(proto.name());
    for (int i = 0; i < file.message_type_count(); ++i)
      compare(*file.message_type(i), now, problems);
    for (int i = 0; i < file.enum_type_count(); ++i)
      compare(*file.enum_type(i), now.FindEnumTypeByName(file.enum_type(i)->full_name()), problems);
    for (int i = 0; i < file.service_count(); ++i) compare(*file.service(i), now, problems);
  }
  return problems;
}

pb::FileDescriptorSet today() {
  pb::FileDescriptorSet files;
  accounts::Record::descriptor()->file()->CopyTo(files.add_file());  // imported by the next file
  api::Request::descriptor()->file()->CopyTo(files.add_file());
  api::NodeUp::descriptor()->file()->CopyTo(files.add_file());
  return files;
}

pb::DescriptorProto& message(pb::FileDescriptorSet& files, const std::string& name) {
  for (auto& file : *files.mutable_file())
    for (auto& type : *file.mutable_message_type())
      if (type.name() == name) return type;
  std::abort();
}

TEST(Wire, MessagesStayCompatibleWithEveryRelease) {
  int releases = 0;
  ASSERT_TRUE(storage::EventBody::descriptor());  // adds its file to the pool
  for (const auto& entry : std::filesystem::directory_iterator(ARES_SOURCE_DIR "/tests/wire")) {
    if (entry.path().extension() != ".desc") continue;
    ++releases;
    pb::FileDescriptorSet then;
    std::ifstream file(entry.path(), std::ios::binary);
    ASSERT_TRUE(then.ParseFromIstream(&file)) << entry.path();
    std::set<std::string> names;
    for (const auto& proto : then.file()) names.insert(proto.name());
    const std::set<std::string> all = {"accounts.proto", "api.proto", "node.proto",
                                       "storage.proto"};
    EXPECT_TRUE(std::includes(names.begin(), names.end(), all.begin(), all.end())) << entry.path();
    EXPECT_EQ(broken_promises(then, *pb::DescriptorPool::generated_pool()), Problems{})
        << "programs of release " << entry.path().stem()
        << " would misread this; add a field with a new number instead";
  }
  EXPECT_GE(releases, 1);
}

TEST(Wire, AllowsAdditions) {
  pb::FileDescriptorSet more = today();
  auto* field = message(more, "Request").add_field();
  field->set_name("added");
  field->set_number(1000);
  field->set_type(pb::FieldDescriptorProto::TYPE_STRING);
  field->set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
  more.mutable_file(0)->add_message_type()->set_name("Added");
  pb::DescriptorPool pool;
  build(more, pool);
  EXPECT_EQ(broken_promises(today(), pool), Problems{});
}

struct Breach {
  void (*commit)(pb::FileDescriptorSet&);
  const char* expected;
};
const Breach kBreaches[] = {
    {[](auto& f) { message(f, "Sealed").mutable_field()->RemoveLast(); },
     "ares.api.Sealed.mac = 5 was removed or renumbered"},
    {[](auto& f) { message(f, "Sealed").mutable_field(4)->set_number(6); },
     "ares.api.Sealed.mac = 5 was removed or renumbered"},
    {[](auto& f) { message(f, "Sealed").mutable_field(4)->set_name("seal"); },
     "ares.api.Sealed.mac = 5 is now called seal"},
    {[](auto& f) {
       message(f, "Sealed").mutable_field(1)->set_type(pb::FieldDescriptorProto::TYPE_SINT64);
     },
     "ares.api.Sealed.session = 2 has another type"},
    {[](auto& f) {
       message(f, "Sealed").mutable_field(4)->set_label(pb::FieldDescriptorProto::LABEL_REPEATED);
     },
     "ares.api.Sealed.mac = 5 is repeated or no longer is"},
    {[](auto& f) { message(f, "Kill").mutable_field(0)->set_type_name(".ares.api.JobRef"); },
     "ares.api.Kill.attempt = 1 is of another message"},
    {[](auto& f) { message(f, "JobAction").mutable_enum_type(0)->mutable_value(1)->set_number(9); },
     "ares.api.JobAction.RELEASE was removed or renumbered"},
    {[](auto& f) {
       auto& calls = *f.mutable_file(1)->mutable_service(0)->mutable_method();
       calls.erase(std::find_if(calls.begin(), calls.end(),
                                [](auto& call) { return call.name() == "Attach"; }));
     },
     "call ares.api.Ares.Attach was removed or changed"},
};

TEST(Wire, DetectsEveryIncompatibleChange) {
  for (const Breach& breach : kBreaches) {
    pb::FileDescriptorSet changed = today();
    breach.commit(changed);
    pb::DescriptorPool pool;
    build(changed, pool);
    EXPECT_EQ(broken_promises(today(), pool), Problems{breach.expected});
  }
}

}  // namespace
}  // namespace ares
