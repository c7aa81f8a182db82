// Tests: storage_convert_expedite, accounts_convert, storage_convert_cluster, storage_convert_event
// Tests: storage_convert_event_cluster, storage_convert_event_job, storage_convert_job
// Tests: storage_convert_preempt, storage_convert_suspend, storage_events, storage_fields
// Tests: storage_records, storage_convert_steps, storage_convert_container, storage_convert_spec
#include "proto/storage_convert.h"

#include <gtest/gtest.h>

#include <set>

#include "unit/proto/storage_random.h"

namespace ares::proto {
namespace {

using testing::RandomModel;
using testing::same;

constexpr int kRounds = 300;

TEST(StorageConvert, EveryFieldOfEveryEventRoundTrips) {
  RandomModel random(1);
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind) {
    for (int round = 0; round < kRounds; ++round) {
      const EventBody event = random.make_event(kind);
      const auto back = decode_event(kStorageVersion, encode_event(event));
      ASSERT_TRUE(back) << event_kind(event) << ": " << back.error().message;
      ASSERT_TRUE(same(event, *back)) << event_kind(event) << ", round " << round;
    }
  }
}

TEST(StorageConvert, EventNamesAreUnique) {
  RandomModel random(2);
  std::set<std::string_view> names;
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind)
    names.insert(event_kind(random.make_event(kind)));
  EXPECT_EQ(names.size(), std::variant_size_v<EventBody>);
  EXPECT_TRUE(names.contains("Submitted"));
}

TEST(StorageConvert, EveryFieldOfEveryRecordRoundTrips) {
  RandomModel random(3);
  for (int round = 0; round < kRounds; ++round) {
    const auto spec = random.make<JobSpec>();
    const auto spec_back = decode_spec(kStorageVersion, encode_spec(spec));
    ASSERT_TRUE(spec_back && same(spec, *spec_back)) << "specification, round " << round;

    const auto job = random.make<Job>();
    const auto job_back = decode_job(kStorageVersion, encode_job(job), job.spec);
    ASSERT_TRUE(job_back && same(job, *job_back)) << "job, round " << round;

    const auto node = random.make<Node>();
    const auto node_back = decode_node(kStorageVersion, encode_node(node));
    ASSERT_TRUE(node_back && same(node, *node_back)) << "node, round " << round;

    const auto partition = random.make<Partition>();
    const auto partition_back = decode_partition(kStorageVersion, encode_partition(partition));
    ASSERT_TRUE(partition_back && same(partition, *partition_back)) << "partition, round " << round;

    const auto reservation = random.make<Reservation>();
    const auto reservation_back =
        decode_reservation(kStorageVersion, encode_reservation(reservation));
    ASSERT_TRUE(reservation_back && same(reservation, *reservation_back)) << "round " << round;

    const auto usage = random.make<AssociationUsage>();
    const auto usage_back = decode_usage(kStorageVersion, encode_usage(usage));
    ASSERT_TRUE(usage_back && usage == *usage_back) << "usage, round " << round;

    const auto record = random.make<AccountingRecord>();
    const auto record_back = decode_accounting(kStorageVersion, encode_accounting(record));
    ASSERT_TRUE(record_back && record == *record_back) << "accounting, round " << round;

    const auto request = random.make<Request>();
    const auto request_back = decode_request(kStorageVersion, encode_request(request));
    ASSERT_TRUE(request_back && same(request, *request_back)) << "request, round " << round;
  }
}

// The comparison above is valid only if it compares every field.
template <class T, std::size_t... I>
void expect_each_field_counts(std::index_sequence<I...>) {
  const auto differs = [](auto field) {
    RandomModel random(4);
    const T original = random.make<T>();
    for (int tries = 0; tries < 50; ++tries) {
      T changed = original;
      random.fill(std::get<decltype(field)::value>(testing::Fields<T>::tie(changed)));
      if (!same(original, changed)) return true;
    }
    return false;
  };
  const std::vector<bool> seen = {differs(std::integral_constant<std::size_t, I>{})...};
  EXPECT_EQ(seen, std::vector<bool>(seen.size(), true));
}
template <class T>
void expect_each_field_counts() {
  T value{};
  expect_each_field_counts<T>(
      std::make_index_sequence<std::tuple_size_v<decltype(testing::Fields<T>::tie(value))>>{});
}

TEST(StorageConvert, ComparisonCoversEveryField) {
  expect_each_field_counts<JobSpec>();
  expect_each_field_counts<Job>();
  expect_each_field_counts<Node>();
  expect_each_field_counts<Partition>();
  expect_each_field_counts<Request>();
  expect_each_field_counts<NodeShare>();
  expect_each_field_counts<Submitted>();
  expect_each_field_counts<NodeRegistered>();
}

TEST(StorageConvert, AllocationStoredWithoutLeasesHasNone) {
  Allocated allocated;
  allocated.key = JobKey{JobId{1}, {}};
  allocated.attempt = AttemptNo{1};
  NodeShare share;
  share.node = NodeId{1};
  share.leased = true;
  allocated.nodes = {share};
  std::string bytes = encode_event(allocated);
  const std::string leased("\x50\x01", 2);  // field 10 = 1, the last of the share
  const std::size_t at = bytes.rfind(leased);
  ASSERT_NE(at, std::string::npos);
  const auto now = decode_event(kStorageVersion, bytes);
  ASSERT_TRUE(now);
  EXPECT_TRUE(std::get<Allocated>(*now).nodes[0].leased);
  bytes[at + 1] = 0;
  const auto old = decode_event(kStorageVersion, bytes);
  ASSERT_TRUE(old);
  EXPECT_FALSE(std::get<Allocated>(*old).nodes[0].leased);

  allocated.nodes.change(0, [](NodeShare& one) { one.leased = false; });
  EXPECT_EQ(encode_event(allocated).find(leased), std::string::npos) << "absent is the same as no";
}

TEST(StorageConvert, NewerFormatIsRefusedWithItsNumber) {
  const auto event = decode_event(kStorageVersion + 1, encode_event(NodeLost{NodeId(3)}));
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, ErrorCode::data_loss);
  EXPECT_NE(event.error().message.find("format " + std::to_string(kStorageVersion + 1)),
            std::string::npos);
  EXPECT_FALSE(decode_node(0, encode_node(Node{})));
}

TEST(StorageConvert, UnknownEventIsRefused) {
  // Field 199 of the envelope, an empty message: an event of a newer release, as seen by this one.
  const std::string newer("\xba\x0c\x00", 3);
  const auto event = decode_event(kStorageVersion, newer);
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, ErrorCode::data_loss);
  EXPECT_NE(event.error().message.find("does not know"), std::string::npos);
}

TEST(StorageConvert, UnknownStateIsRefused) {
  // Ended{state = 99}: field 37, length 2, field 2 = 99.
  const std::string bytes("\xaa\x02\x02\x10\x63", 5);
  const auto event = decode_event(kStorageVersion, bytes);
  ASSERT_FALSE(event);
  EXPECT_NE(event.error().message.find("job state 99"), std::string::npos) << event.error().message;
}

TEST(StorageConvert, DamagedBytesAreAnError) {
  RandomModel random(5);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = encode_event(random.make_event(random.below(32)));
    for (auto flips = 1 + random.below(4); flips > 0 && !bytes.empty(); --flips)
      bytes[random.below(bytes.size())] ^= static_cast<char>(1u << random.below(8));
    bytes.resize(bytes.size() - random.below(bytes.size() + 1) / 4);
    const auto event = decode_event(kStorageVersion, bytes);
    if (!event) {
      ++refused;
      EXPECT_EQ(event.error().code, ErrorCode::data_loss);
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace ares::proto
