#include "pmi/pmi1_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Pmi1Server server_on(std::uint32_t node) {
  return Pmi1Server::create({.size = 3, .ranks_by_node = {{0, 1}, {2}}, .this_node = node},
                            "ares_7.0")
      .value();
}

// The one line with which the rank is answered.
std::string answer(Pmi1Server& server, std::uint32_t rank, std::string_view line) {
  const Outcome outcome = server.on_bytes(rank, std::string(line) + "\n");
  if (outcome.replies.size() != 1 || outcome.replies[0].rank != rank || outcome.abort ||
      outcome.contribution)
    return "not one reply";
  return outcome.replies[0].line;
}

std::string abort_of(Pmi1Server& server, std::uint32_t rank, std::string_view bytes) {
  const Outcome outcome = server.on_bytes(rank, bytes);
  return outcome.abort ? outcome.abort->message : "no abort";
}

constexpr const char* kInit = "cmd=init pmi_version=1 pmi_subversion=1";

TEST(Pmi1Server, AProgramLearnsItsSurroundings) {
  Pmi1Server server = server_on(0);
  EXPECT_EQ(answer(server, 0, kInit), "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(answer(server, 0, "cmd=get_maxes"),
            "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=800 rc=0\n");
  EXPECT_EQ(answer(server, 0, "cmd=get_appnum"), "cmd=appnum appnum=0 rc=0\n");
  EXPECT_EQ(answer(server, 0, "cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=ares_7.0 rc=0\n");
  EXPECT_EQ(answer(server, 0, "cmd=get_universe_size"), "cmd=universe_size size=3 rc=0\n");
  EXPECT_EQ(answer(server, 0, "cmd=get kvsname=ares_7.0 key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,2),(1,1,1))\n");
  EXPECT_EQ(answer(server, 0, "cmd=finalize"), "cmd=finalize_ack rc=0\n");
}

TEST(Pmi1Server, AnotherVersionOfTheProtocolIsRefused) {
  Pmi1Server server = server_on(0);
  EXPECT_EQ(answer(server, 0, "cmd=init pmi_version=2 pmi_subversion=0"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
}

TEST(Pmi1Server, KeysOfAllNodesAreSeenAfterABarrier) {
  Pmi1Server first = server_on(0), second = server_on(1);
  EXPECT_EQ(answer(first, 1, "cmd=put kvsname=ares_7.0 key=card1 value=tcp one"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(answer(second, 2, "cmd=put kvsname=ares_7.0 key=card2 value=tcp two"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_THAT(answer(second, 2, "cmd=get kvsname=ares_7.0 key=card1"), HasSubstr("rc=-1"));

  EXPECT_FALSE(first.on_bytes(0, "cmd=barrier_in\n").contribution) << "rank 1 is not there yet";
  const Outcome of_first = first.on_bytes(1, "cmd=barrier_in\n");
  const Outcome of_second = second.on_bytes(2, "cmd=barrier_in\n");
  ASSERT_TRUE(of_first.contribution && of_second.contribution);
  EXPECT_TRUE(of_first.replies.empty()) << "no rank leaves before all nodes are there";
  const std::vector<std::string> all{*of_first.contribution, *of_second.contribution};
  const Outcome left = first.on_fence(all);
  ASSERT_EQ(left.replies.size(), 2u);
  EXPECT_EQ(left.replies[0].line, "cmd=barrier_out rc=0\n");
  EXPECT_EQ(left.replies[1].rank, 1u);
  EXPECT_EQ(second.on_fence(all).replies.size(), 1u);
  EXPECT_EQ(answer(second, 2, "cmd=get kvsname=ares_7.0 key=card1"),
            "cmd=get_result rc=0 msg=success value=tcp one\n");
  EXPECT_EQ(answer(first, 0, "cmd=get kvsname=ares_7.0 key=card2"),
            "cmd=get_result rc=0 msg=success value=tcp two\n");
}

TEST(Pmi1Server, AContributionContainsOnlyWhatIsNew) {
  Pmi1Server server = server_on(1);
  const auto barrier = [&] { return server.on_bytes(2, "cmd=barrier_in\n").contribution.value(); };
  (void)server.on_bytes(2, "cmd=put kvsname=ares_7.0 key=a value=1\n");
  const std::vector<std::string> all{"fence 0\n", barrier()};
  EXPECT_EQ(all[1], "fence 0\na=1\n");
  ASSERT_FALSE(server.on_fence(all).abort);
  EXPECT_EQ(barrier(), "fence 1\n");
}

TEST(Pmi1Server, LinesMayArriveInAnyPieces) {
  Pmi1Server server = server_on(0);
  EXPECT_TRUE(server.on_bytes(0, "cmd=get_app").replies.empty());
  const Outcome outcome = server.on_bytes(0, "num\ncmd=get_appnum\ncmd=get");
  ASSERT_EQ(outcome.replies.size(), 2u);
  EXPECT_EQ(outcome.replies[1].line, "cmd=appnum appnum=0 rc=0\n");
  EXPECT_THAT(answer(server, 0, "_universe_size"), StartsWith("cmd=universe_size"));
}

TEST(Pmi1Server, ABadPutIsRefusedAndChangesNothing) {
  Pmi1Server server = server_on(1);
  const auto put = [&](const std::string& rest) { return answer(server, 2, "cmd=put " + rest); };
  EXPECT_THAT(put("kvsname=other key=a value=1"), HasSubstr("rc=-1 msg=unknown_kvsname"));
  EXPECT_THAT(put("kvsname=ares_7.0 value=1"), HasSubstr("rc=-1 msg=invalid_key"));
  EXPECT_THAT(put("kvsname=ares_7.0 key=" + std::string(65, 'k') + " value=1"),
              HasSubstr("rc=-1 msg=invalid_key"));
  EXPECT_THAT(put("kvsname=ares_7.0 key=a value=" + std::string(801, 'v')),
              HasSubstr("rc=-1 msg=value_too_long"));
  EXPECT_THAT(put("kvsname=ares_7.0 key=PMI_process_mapping value=x"),
              HasSubstr("rc=-1 msg=reserved_key"));
  EXPECT_EQ(server.on_bytes(2, "cmd=barrier_in\n").contribution, "fence 0\n");
}

TEST(Pmi1Server, APutBeyondTheBoundOfABarrierIsRefused) {
  Pmi1Server server = server_on(1);
  const std::string value(kMostValue, 'v');
  std::size_t taken = 0;
  while (answer(server, 2,
                "cmd=put kvsname=ares_7.0 key=k" + std::to_string(taken) + " value=" + value) ==
         "cmd=put_result rc=0 msg=success\n")
    ++taken;
  EXPECT_GT(taken, 10000u);
  EXPECT_THAT(answer(server, 2, "cmd=put kvsname=ares_7.0 key=a value=" + value),
              HasSubstr("rc=-1 msg=too_many_keys"));
  const auto contribution = server.on_bytes(2, "cmd=barrier_in\n").contribution;
  ASSERT_TRUE(contribution);
  EXPECT_LE(contribution->size(), kMostContribution);
  EXPECT_FALSE(server.on_fence(std::vector<std::string>{"fence 0\n", *contribution}).abort);
}

TEST(Pmi1Server, NoAnswerIsLongerThanMpichReads) {
  const std::string space(kMostSpaceName, 's'), key(kMostKey, 'k');
  auto server = Pmi1Server::create({.size = 1, .ranks_by_node = {{0}}}, space).value();
  const std::string line =
      "cmd=put kvsname=" + space + " key=" + key + " value=" + std::string(kMostValue, 'v');
  EXPECT_LT(line.size(), kMostLine) << "MPICH can send it";
  EXPECT_EQ(answer(server, 0, line), "cmd=put_result rc=0 msg=success\n");
  EXPECT_LE(answer(server, 0, "cmd=get kvsname=" + space + " key=" + key).size(), kMostLine);
}

TEST(Pmi1Server, AMappingThatIsTooLongIsLeftToTheProgram) {
  TaskMap map{.ranks_by_node = std::vector<std::vector<std::uint32_t>>(2)};
  for (std::uint32_t run = 1; run < 100; ++run)  // of growing length, in turn
    for (std::uint32_t i = 0; i < run; ++i) map.ranks_by_node[run % 2].push_back(map.size++);
  auto server = Pmi1Server::create(map, "s").value();
  EXPECT_THAT(answer(server, 1, "cmd=get kvsname=s key=PMI_process_mapping"), HasSubstr("rc=-1"))
      << "rank 1 is on node 0";
}

TEST(Pmi1Server, SpawnIsRefusedOnceForAllItsCommands) {
  Pmi1Server server = server_on(0);
  const std::string spawn = "mcmd=spawn\nnprocs=1\nexecname=a=b c\ntotspawns=2\nspawnssofar=";
  EXPECT_TRUE(server.on_bytes(0, spawn + "1\nargcnt=0\nendcmd\n").replies.empty());
  EXPECT_EQ(answer(server, 0, spawn + "2\nargcnt=0\nendcmd"),
            "cmd=spawn_result rc=-1 msg=spawn_is_not_supported_by_ares\n");
  EXPECT_THAT(answer(server, 0, "cmd=get_appnum"), StartsWith("cmd=appnum")) << "it goes on";
}

TEST(Pmi1Server, PublishedNamesAreRefused) {
  Pmi1Server server = server_on(0);
  EXPECT_THAT(answer(server, 0, "cmd=publish_name service=s port=p"),
              StartsWith("cmd=publish_result rc=-1 info=not_supported"));
  EXPECT_THAT(answer(server, 0, "cmd=lookup_name service=s"),
              StartsWith("cmd=lookup_result rc=-1"));
}

TEST(Pmi1Server, AnAbortEndsTheStepWithItsCode) {
  Pmi1Server server = server_on(0);
  const Outcome outcome = server.on_bytes(1, "cmd=abort exitcode=7\ncmd=get_appnum\n");
  ASSERT_TRUE(outcome.abort);
  EXPECT_EQ(outcome.abort->rank, 1u);
  EXPECT_EQ(outcome.abort->exit_code, 7);
  EXPECT_EQ(outcome.abort->message, "rank 1 called MPI_Abort with code 7");
  EXPECT_TRUE(outcome.replies.empty());
  EXPECT_TRUE(server.on_bytes(0, "cmd=get_appnum\n").replies.empty())
      << "nothing is answered after it";
}

TEST(Pmi1Server, ARankThatBreaksTheProtocolEndsTheStep) {
  const auto end = [](std::uint32_t rank, const std::string& bytes) {
    Pmi1Server server = server_on(0);
    return abort_of(server, rank, bytes);
  };
  EXPECT_EQ(end(0, "hello\n"), "rank 0 broke the PMI protocol: \"hello\" is not NAME=VALUE");
  EXPECT_THAT(end(0, "cmd=dance to=music\n"), HasSubstr("which Ares does not know"));
  EXPECT_THAT(end(0, "cmd=get\x1b[2J\n"), HasSubstr("\"cmd=get?[2J\""));
  EXPECT_THAT(end(0, std::string(2000, 'x')), HasSubstr("more than 1024 bytes"));
  EXPECT_THAT(end(0, "mcmd=spawn\n" + std::string(2000, 'x')), HasSubstr("more than 1024 bytes"));
  EXPECT_THAT(end(0, "cmd=barrier_in\ncmd=barrier_in\n"), HasSubstr("entered a PMI barrier twice"));
  EXPECT_THAT(end(2, "cmd=get_appnum\n"), HasSubstr("rank 2 does not run on this node"));
}

TEST(Pmi1Server, ARankThatEndsWithoutFinalizeEndsTheStep) {
  Pmi1Server server = server_on(0);
  EXPECT_FALSE(server.on_closed(0).abort) << "it does not use MPI";
  (void)answer(server, 1, kInit);
  Pmi1Server finalized = server;
  const Outcome outcome = server.on_closed(1);
  ASSERT_TRUE(outcome.abort);
  EXPECT_EQ(outcome.abort->message, "rank 1 ended without MPI_Finalize");
  (void)answer(finalized, 1, "cmd=finalize");
  EXPECT_FALSE(finalized.on_closed(1).abort);
}

TEST(Pmi1Server, AWrongContributionEndsTheStep) {
  const auto end = [](std::vector<std::string> all, bool waiting = true) {
    Pmi1Server server = server_on(1);
    if (waiting) (void)server.on_bytes(2, "cmd=barrier_in\n");
    const Outcome outcome = server.on_fence(all);
    EXPECT_TRUE(outcome.replies.empty());
    return outcome.abort ? outcome.abort->message : "no abort";
  };
  EXPECT_THAT(end({"fence 0\n", "fence 0\n"}, false), HasSubstr("has not reached it"));
  EXPECT_THAT(end({"fence 0\n"}), HasSubstr("1 contributions of 2 nodes"));
  EXPECT_THAT(end({"fence 1\n", "fence 0\n"}), HasSubstr("a node is at barrier 1"));
  EXPECT_THAT(end({"fence 0\nx\n", "fence 0\n"}), HasSubstr("keys of another node"));
  EXPECT_THAT(end({"fence 0\nPMI_process_mapping=x\n", "fence 0\n"}), HasSubstr("reserved key"));
}

TEST(Pmi1Server, ANameThatDoesNotFitIntoALineIsRefused) {
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a=b"), std::string(65, 'a')})
    EXPECT_FALSE(Pmi1Server::create({.size = 1, .ranks_by_node = {{0}}}, name)) << name;
  EXPECT_FALSE(Pmi1Server::create({}, "ares_7.0"));
}

}  // namespace
}  // namespace ares::pmi
