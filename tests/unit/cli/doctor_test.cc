// What `actl doctor` says of what it found.
#include "actl/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::actl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000;

Time at(std::int64_t seconds) {
  return Time(Duration(seconds * kSecond));
}

TEST(Doctor, EachProblemSaysWhatToDo) {
  const Status silent = fail(ErrorCode::unavailable, "munged does not answer");
  EXPECT_EQ(judge_munge(silent, false).health, Health::warning);
  const Finding munge = judge_munge(silent, true);
  EXPECT_EQ(munge.health, Health::failed);
  EXPECT_EQ(munge.text, "munged does not answer");
  EXPECT_THAT(munge.advice, HasSubstr("systemctl start munge"));

  const Finding away = judge_controller(fail(ErrorCode::unavailable, "no answer"));
  EXPECT_EQ(away.health, Health::failed);
  EXPECT_THAT(away.advice, HasSubstr("systemctl status aresctld"));
  const Finding keys = judge_controller(fail(ErrorCode::unauthenticated, "invalid credential"));
  EXPECT_THAT(keys.advice, HasSubstr("munge.key"));
}

TEST(Doctor, AddressThatWasNotNeededIsAWarning) {
  const Status refused = fail(ErrorCode::unavailable, "Connection refused");
  EXPECT_EQ(judge_address("tcp:a:1", refused, true).health, Health::warning);
  EXPECT_EQ(judge_address("tcp:a:1", refused, false).health, Health::failed);
  EXPECT_EQ(judge_address("tcp:a:1", {}, false).health, Health::good);
}

TEST(Doctor, ClocksAreComparedWithTheTimeOfTheCallTakenOff) {
  api::Pong pong;
  pong.set_now(1005 * kSecond);
  EXPECT_EQ(judge_clocks(pong, at(1000), at(1006)).health, Health::good) << "the answer took 6 s";
  const Finding behind = judge_clocks(pong, at(1030), at(1031));
  EXPECT_EQ(behind.health, Health::failed);
  EXPECT_THAT(behind.text, HasSubstr("00:00:25 behind"));
  EXPECT_THAT(behind.advice, HasSubstr("NTP"));
  EXPECT_THAT(judge_clocks(pong, at(900), at(901)).text, HasSubstr("00:01:44 ahead of"));
  // The time of the controller is ahead of its machine's clock, which is right.
  pong.set_clock_ahead(60 * kSecond);
  EXPECT_EQ(judge_clocks(pong, at(945), at(946)).health, Health::warning);
}

TEST(Doctor, DatabaseIsAsTheControllerReportsIt) {
  api::Pong pong;
  pong.set_state("waiting for the database");
  const auto waits = judge_database(pong, std::nullopt);
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].health, Health::failed);
  EXPECT_THAT(waits[0].text, HasSubstr("waiting for the database"));

  pong.set_state("active");
  const std::string config =
      "cluster: test\nnodes:\n  - {name: n1, cpus: 1, memory: 100M}\npartitions:\n  - {name: p, "
      "nodes: n1}\n"
      "database:\n  host: db1\n";
  const auto good = judge_database(pong, config);
  ASSERT_THAT(good, SizeIs(2));
  EXPECT_THAT(good[0].text, HasSubstr("on db1 port 5432"));
  EXPECT_EQ(failures(good), 0u);
  const auto careless = judge_database(pong, config + "  accept_data_loss: true\n");
  ASSERT_THAT(careless, SizeIs(2));
  EXPECT_EQ(careless[1].health, Health::warning);
  EXPECT_THAT(careless[1].advice, HasSubstr("fsync=off"));
}

TEST(Doctor, NodesOfOtherReleasesAndSilentOnesAreListedTogether) {
  api::Nodes nodes;
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    api::Node& node = *nodes.add_nodes();
    node.set_name(name);
    node.set_state("IDLE");
    node.set_version("2.0");
    node.set_registered_at(kSecond);
    node.set_last_heard(5 * kSecond);
  }
  ASSERT_THAT(judge_nodes(nodes), SizeIs(1));
  EXPECT_EQ(failures(judge_nodes(nodes)), 0u);
  EXPECT_EQ(judge_versions("2.0", "2.0", nodes).front().health, Health::good);

  nodes.mutable_nodes(1)->set_state("DOWN*");
  nodes.mutable_nodes(2)->set_state("IDLE*");
  nodes.mutable_nodes(3)->set_registered_at(0);
  nodes.mutable_nodes(3)->set_version("");
  const auto found = judge_nodes(nodes);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].text, HasSubstr("node n4: never registered"));
  EXPECT_THAT(found[1].text, HasSubstr("2 nodes, n[2-3]: no answer since"));
  EXPECT_EQ(failures(found), 2u);

  nodes.mutable_nodes(0)->set_version("1.0");
  const auto versions = judge_versions("1.0", "2.0", nodes);
  ASSERT_THAT(versions, SizeIs(2));
  EXPECT_THAT(versions[0].text, HasSubstr("this program is of release 1.0"));
  EXPECT_THAT(versions[1].text, HasSubstr("node n1: aresd is of release 1.0"));
}

TEST(Doctor, QuietLeavesOutWhatIsGood) {
  const std::vector<Finding> found = {{Health::good, "munge", "works", ""},
                                      {Health::failed, "nodes", "n1\nis away", "look there"}};
  EXPECT_EQ(doctor_text(found, true),
            "FAILED  nodes       n1?is away\n        What to do: look there.\n");
  EXPECT_THAT(doctor_text(found, false), HasSubstr("ok      munge       works\n"));
  EXPECT_THAT(doctor_text({found[0]}, true), IsEmpty());
}

}  // namespace
}  // namespace ares::actl
