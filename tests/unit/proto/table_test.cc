#include "proto/table.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

namespace ares::proto {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

// Sets any field of any message, including repeated ones and nested messages.
class Filler {
 public:
  explicit Filler(std::uint32_t seed) : random_(seed) {}

  void fill(Message& m, int depth = 0) {
    for (int i = 0; i < m.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& f = *m.GetDescriptor()->field(i);
      if (random_() % 3 == 0) continue;
      for (std::uint32_t n = f.is_repeated() ? random_() % 3 : 1; n > 0; --n) set(m, f, depth);
    }
  }

 private:
  std::string text() { return std::string(random_() % 4, static_cast<char>('a' + random_() % 3)); }

  void set(Message& m, const FieldDescriptor& f, int depth) {
    const auto& r = *m.GetReflection();
    const bool many = f.is_repeated();
    switch (f.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32: {
        const auto value = static_cast<std::int32_t>(random_());
        return many ? r.AddInt32(&m, &f, value) : r.SetInt32(&m, &f, value);
      }
      case FieldDescriptor::CPPTYPE_INT64: {
        const auto value = static_cast<std::int64_t>(random_()) * -77;
        return many ? r.AddInt64(&m, &f, value) : r.SetInt64(&m, &f, value);
      }
      case FieldDescriptor::CPPTYPE_UINT32:
        return many ? r.AddUInt32(&m, &f, random_()) : r.SetUInt32(&m, &f, random_());
      case FieldDescriptor::CPPTYPE_UINT64:
        return many ? r.AddUInt64(&m, &f, ~std::uint64_t{random_()})
                    : r.SetUInt64(&m, &f, ~std::uint64_t{random_()});
      case FieldDescriptor::CPPTYPE_BOOL: return r.SetBool(&m, &f, random_() % 2 == 0);
      case FieldDescriptor::CPPTYPE_ENUM:
        return r.SetEnumValue(&m, &f, static_cast<int>(random_() % 3));
      case FieldDescriptor::CPPTYPE_STRING:
        return many ? r.AddString(&m, &f, text()) : r.SetString(&m, &f, text());
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth > 2) return;
        return fill(many ? *r.AddMessage(&m, &f) : *r.MutableMessage(&m, &f), depth + 1);
      default: FAIL() << f.full_name();
    }
  }

  std::mt19937 random_;
};

api::Table table_of(const std::vector<api::Job>& rows, std::span<const std::uint32_t> fields) {
  TableWriter writer(api::Job::default_instance(), fields);
  for (const api::Job& row : rows) writer.add(row);
  return writer.take();
}

const std::array<int, 2> kOpened = {api::Job::kKeyFieldNumber, api::Job::kSpecFieldNumber};

TEST(Table, EveryFieldOfEveryRowRoundTrips) {
  Filler filler(5);
  std::vector<api::Job> rows(200);
  for (api::Job& row : rows) {
    filler.fill(row);
    // Nested messages that are split into columns are present afterwards.
    row.mutable_key();
    row.mutable_spec();
  }
  const auto fields = all_fields(*api::Job::descriptor(), kOpened);
  api::Table sent = table_of(rows, fields);
  api::Table received;
  ASSERT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  std::size_t read = 0;
  ASSERT_TRUE(read_table<api::Job>(received, [&](const api::Job& row) {
    ASSERT_LT(read, rows.size());
    std::string difference;
    MessageDifferencer differ;
    differ.ReportDifferencesToString(&difference);
    EXPECT_TRUE(differ.Compare(rows[read++], row)) << difference;
  }));
  EXPECT_EQ(read, rows.size());
}

TEST(Table, HasRequestedFieldsOnly) {
  api::Job job;
  job.mutable_key()->set_job(12);
  job.set_name("train");
  job.set_user("alice");
  job.mutable_spec()->set_comment("hello");
  job.mutable_spec()->set_work_dir("/home");
  const std::vector<std::uint32_t> fields = {
      api::Job::kNameFieldNumber,
      nested_field(api::Job::kSpecFieldNumber, api::JobSpec::kCommentFieldNumber)};
  const api::Table table = table_of({job}, fields);
  api::Job row;
  ASSERT_TRUE(read_table<api::Job>(table, [&](const api::Job& one) { row = one; }));
  EXPECT_EQ(row.name(), "train");
  EXPECT_EQ(row.spec().comment(), "hello");
  EXPECT_EQ(row.user(), "");
  EXPECT_EQ(row.spec().work_dir(), "");
  EXPECT_FALSE(row.has_key());
}

TEST(Table, RepeatedTextsAreStoredOnce) {
  std::vector<api::Job> rows(1000);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].set_name(i % 2 ? "one" : "two");
    rows[i].set_user("one");
  }
  const std::vector<std::uint32_t> fields = {api::Job::kNameFieldNumber,
                                             api::Job::kUserFieldNumber};
  const api::Table table = table_of(rows, fields);
  EXPECT_EQ(table.texts_size(), 2);
  EXPECT_LT(table.ByteSizeLong(), 2100u);
  std::vector<api::Job> equal(1000, rows[0]);
  EXPECT_LT(table_of(equal, fields).ByteSizeLong(), 1050u)
      << "what does not change is not told again";
}

TEST(Table, UnknownFieldsAreOmittedByAnOlderServer) {
  api::Job job;
  job.set_name("train");
  const std::vector<std::uint32_t> fields = {9999, api::Job::kNameFieldNumber,
                                             nested_field(api::Job::kSpecFieldNumber, 9999),
                                             nested_field(api::Job::kNameFieldNumber, 1)};
  const api::Table table = table_of({job}, fields);
  EXPECT_EQ(table.fields_size(), 1);
  ASSERT_TRUE(
      read_table<api::Job>(table, [](const api::Job& row) { EXPECT_EQ(row.name(), "train"); }));
}

// Any bytes give rows or an error, never a crash.
TEST(Table, DamagedTableIsAnError) {
  Filler filler(6);
  std::vector<api::Job> rows(5);
  for (api::Job& row : rows) filler.fill(row);
  const api::Table good = table_of(rows, all_fields(*api::Job::descriptor(), kOpened));
  api::Table unknown = good;
  unknown.add_fields(9999);
  EXPECT_FALSE(TableReader::open(unknown, api::Job::default_instance()));
  std::mt19937 random(8);
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    api::Table bad = good;
    const std::size_t at = random() % bad.cells().size();
    switch (random() % 3) {
      case 0: (*bad.mutable_cells())[at] = static_cast<char>(random()); break;
      case 1: bad.mutable_cells()->resize(at); break;
      default: bad.mutable_texts()->DeleteSubrange(0, 1); break;
    }
    errors += read_table<api::Job>(bad, [](const api::Job&) {}) ? 0 : 1;
  }
  EXPECT_GT(errors, 500);
}

}  // namespace
}  // namespace ares::proto
