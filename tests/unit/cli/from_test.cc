// Tests: from, prepare, asub/batch
// asub --from: the meaning of a line, and how jobs are grouped into requests.
#include "asub/job_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "asub/batch.h"

namespace ares::asub {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Line line(const std::string& text) {
  auto read = read_line(text);
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(Line{});
}

std::string refusal(const std::string& text) {
  const auto read = read_line(text);
  return read ? "accepted" : read.error().message;
}

TEST(From, LineIsAPathOrAnObject) {
  EXPECT_THAT(line("  jobs/a b.sh ").operands, ElementsAre("jobs/a b.sh"));
  const Line script = line(R"({"script": "run.sh", "args": ["x y", 7], "ntasks": 4, "mem": "2G"})");
  EXPECT_THAT(script.operands, ElementsAre("run.sh", "x y", "7"));
  EXPECT_THAT(script.words, ElementsAre("--ntasks=4", "--mem=2G"));
  const Line wrap = line(R"({"hold": true, "requeue": false, "qos": null, "wrap": "echo hi"})");
  EXPECT_THAT(wrap.operands, IsEmpty());
  EXPECT_THAT(wrap.words, ElementsAre("--hold", "--wrap=echo hi"));
}

TEST(From, InvalidLinesAreRefused) {
  EXPECT_THAT(refusal("{}"), HasSubstr("either \"script\" or \"wrap\""));
  EXPECT_THAT(refusal(R"({"script": "a", "wrap": "b"})"), HasSubstr("either"));
  EXPECT_THAT(refusal(R"({"script": 7})"), HasSubstr("\"script\" must be a text"));
  EXPECT_THAT(refusal(R"({"script": "-"})"), HasSubstr("must name a file"));
  EXPECT_THAT(refusal(R"({"wrap": "a", "args": ["b"]})"), HasSubstr("\"wrap\" has none"));
  EXPECT_THAT(refusal(R"({"script": "a", "args": "b"})"), HasSubstr("must be a list"));
  EXPECT_THAT(refusal(R"({"script": "a", "mem": ["2G"]})"), HasSubstr("takes one value"));
  EXPECT_THAT(refusal("{\"script\": \"a\""), HasSubstr("column"));
}

TEST(From, BlankLinesAndCommentsAreSkipped) {
  const auto lines = lines_of("a.sh\n\n  # b.sh\n\tc.sh\r\nd.sh");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].first, 4u);
  EXPECT_EQ(lines[1].second, "c.sh");
  EXPECT_EQ(lines[2].first, 5u);
}

std::vector<submission::PreparedJob> jobs(std::size_t count, std::size_t script_bytes = 20,
                                          bool same = true) {
  std::vector<submission::PreparedJob> all;
  for (std::size_t i = 0; i < count; ++i) {
    submission::PreparedJob job;
    job.spec.set_name("job" + std::to_string(i));
    job.script = std::string(script_bytes, 'x') + (same ? "" : std::to_string(i));
    job.environment = "A=1";
    job.line = i + 10;
    all.push_back(std::move(job));
  }
  return all;
}

TEST(From, JobsPerRequestAreBoundedAndOrdered) {
  const auto batches = make_batches(jobs(1201), "id");
  ASSERT_EQ(batches.size(), 3u);
  std::set<std::string> ids;
  std::size_t at = 0;
  for (const Batch& batch : batches) {
    ids.insert(batch.request.request_id());
    EXPECT_EQ(batch.first_line, at + 10);
    for (const auto& item : batch.request.submit_many().items())
      EXPECT_EQ(item.spec().name(), "job" + std::to_string(at++));
    EXPECT_EQ(batch.last_line, at + 9);
    EXPECT_EQ(batch.request.submit_many().scripts_size(), 1) << "sent once";
    EXPECT_EQ(batch.request.submit_many().environments_size(), 1);
  }
  EXPECT_EQ(at, 1201u);
  EXPECT_THAT(ids, ElementsAre("id/1", "id/2", "id/3"));
}

TEST(From, BytesPerRequestAreBounded) {
  const auto batches = make_batches(jobs(10, 400'000, false), "id");
  ASSERT_EQ(batches.size(), 5u);
  for (const Batch& batch : batches) {
    EXPECT_LE(batch.request.ByteSizeLong(), kMostBytes + 1000);
    ASSERT_EQ(batch.request.submit_many().items_size(), 2);
    EXPECT_EQ(batch.request.submit_many().items(1).script(), 1u);
    EXPECT_EQ(batch.request.submit_many().items(1).environment(), 0u);
  }
  EXPECT_EQ(make_batches(jobs(10, 400'000), "id").size(), 1u) << "the same script";
  EXPECT_EQ(make_batches(jobs(3, 3'000'000, false), "id").size(), 3u) << "each alone";
}

TEST(From, SameJobsMakeTheSameRequests) {
  const auto once = make_batches(jobs(700), "id"), again = make_batches(jobs(700), "id");
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(once[i].request.SerializeAsString(), again[i].request.SerializeAsString());
}

}  // namespace
}  // namespace ares::asub
