// Tests: output/job_output
// What jobs have printed, as it is stored in pieces and read.
#include "store/output/job_output.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "store/pg/pg_journal.h"
#include "store/pg/purge.h"
#include "unit/store/pg_server.h"

namespace ares::store {
namespace {

using testing::PgServer;

const OutputKey kKey{{JobId(12), TaskIndex{3}}, AttemptNo(1), 0};
const UserId kOwner(1000);

class JobOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = journal_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    epoch_ = opened->epoch;
  }
  OutputWriter::Stored add(std::uint64_t offset, std::string_view data, bool ended = false,
                           OutputKey key = kKey, Bytes most = Bytes::mib(1)) {
    const auto stored = writer_.append(key, kOwner, offset, data, ended, most);
    EXPECT_TRUE(stored) << stored.error().message;
    return stored.value_or(OutputWriter::Stored{});
  }
  // All that is kept, with "<N>" for bytes that are not.
  std::string text(OutputKey key = kKey) {
    OutputReader reader(options_, 1);
    std::string out;
    for (std::uint64_t offset = 0;;) {
      const auto piece = reader.read(key.job, key.attempt, key.rank, offset);
      EXPECT_TRUE(piece) << piece.error().message;
      if (!piece || piece->data.empty()) return out;
      if (piece->offset > offset) out += "<" + std::to_string(piece->offset - offset) + ">";
      out += piece->data;
      offset = piece->offset + piece->data.size();
    }
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  OutputWriter writer_{options_};
  Epoch epoch_;
};

TEST_F(JobOutput, PartsAreReadInOrder) {
  EXPECT_EQ(add(0, "").size, 0U);
  EXPECT_EQ(add(0, std::string("a\0\xff", 3)).size, 3U);
  const auto last = add(3, "end", true);
  EXPECT_EQ(last.size, 6U);
  EXPECT_TRUE(last.ended);
  EXPECT_EQ(text(), std::string("a\0\xff"
                                "end",
                                6));
  const auto piece = OutputReader(options_, 1).read(kKey.job, AttemptNo(0), 0, 4);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->data, "nd");
  EXPECT_EQ(piece->owner, kOwner);
  EXPECT_EQ(piece->size, 6U);
  EXPECT_TRUE(piece->ended);
}

TEST_F(JobOutput, ManyPartsAreReadInSeveralPieces) {
  std::string all;
  for (int i = 0; i < 20; ++i) {
    const std::string part = "part " + std::to_string(i) + "\n";
    add(all.size(), part);
    all += part;
  }
  EXPECT_EQ(text(), all);
}

TEST_F(JobOutput, WhatIsKnownIsSkipped) {
  add(0, "abc");
  EXPECT_EQ(add(0, "abc").size, 3U);
  EXPECT_EQ(add(1, "bcde").size, 5U);
  EXPECT_EQ(add(0, "a").size, 5U);
  EXPECT_EQ(add(0, "", true).size, 5U);
  EXPECT_EQ(text(), "abcde");
}

TEST_F(JobOutput, WritersAtTheSameTimeStoreEachByteOnce) {
  std::string all;
  for (int i = 0; i < 300; ++i) all += std::to_string(i) + "\n";
  const auto write = [&](std::size_t piece) {
    OutputWriter writer(options_);
    for (std::uint64_t at = 0; at < all.size();) {
      const auto stored = writer.append(kKey, kOwner, at, std::string_view(all).substr(at, piece),
                                        false, Bytes::mib(1));
      ASSERT_TRUE(stored) << stored.error().message;
      at = stored->size;
    }
  };
  std::thread other([&] { write(7); });
  write(11);
  other.join();
  EXPECT_EQ(text(), all);
}

TEST_F(JobOutput, MissingBytesStayMissing) {
  add(0, "abc");
  EXPECT_EQ(add(5, "fg").size, 7U);
  EXPECT_EQ(text(), "abc<2>fg");
}

TEST_F(JobOutput, NoMoreIsKeptThanAllowed) {
  EXPECT_EQ(add(0, "abcd", false, kKey, Bytes(6)).size, 4U);
  EXPECT_EQ(add(4, "efgh", false, kKey, Bytes(6)).size, 8U);
  EXPECT_EQ(add(8, "ijkl", true, kKey, Bytes(6)).size, 12U);
  EXPECT_EQ(text(), "abcdef");
  EXPECT_EQ(OutputReader(options_, 1).read(kKey.job, kKey.attempt, 0, 6)->size, 12U);
}

TEST_F(JobOutput, AttemptsRanksAndJobsAreApart) {
  OutputKey rank = kKey, attempt = kKey, job = kKey;
  rank.rank = 1;
  attempt.attempt = AttemptNo(2);
  job.job.task = {};
  add(0, "first");
  add(0, "rank", false, rank);
  add(0, "second", false, attempt);
  add(0, "job", false, job);
  EXPECT_EQ(text(), "first");
  EXPECT_EQ(text(rank), "rank");
  EXPECT_EQ(text(job), "job");
  OutputReader reader(options_, 1);
  EXPECT_EQ(reader.read(kKey.job, AttemptNo(0), 0, 0)->data, "second") << "the last attempt";
  const auto absent = reader.read(kKey.job, AttemptNo(3), 0, 0);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
}

TEST_F(JobOutput, IsRemovedByItsAge) {
  add(0, "abc", true);
  Purge purge(options_);
  const Time now(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  auto removed = purge.job_output(epoch_, now - std::chrono::hours(1));
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->removed, 0U);
  EXPECT_EQ(text(), "abc");
  removed = purge.job_output(epoch_, now + std::chrono::hours(1));
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->removed, 1U);
  EXPECT_EQ(server_.sql(options_, "SELECT count(*)::text FROM job_output_part"), "0");
}

}  // namespace
}  // namespace ares::store
