// Tests: info_list
#include "mpi/pmix/job_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string_view>

namespace ares::mpi::pmix {
namespace {

const pmi::TaskMap kMap{.size = 5, .ranks_by_node = {{0, 2, 4}, {1, 3}}, .this_node = 1};

// The entries of the key.
std::vector<const Value*> find(const Info* infos, std::size_t count, std::string_view key) {
  std::vector<const Value*> found;
  for (std::size_t i = 0; i < count; ++i)
    if (infos[i].key == key) found.push_back(&infos[i].value);
  return found;
}

TEST(JobInfo, RanksAreListedByNode) {
  EXPECT_EQ(ranks_of_nodes(kMap), "0,2,4;1,3");
}

TEST(JobInfo, TheStepIsDescribedAsThisNodeSeesIt) {
  InfoList info = describe_step(kMap, "ares_7.0", {"a", "b"}, "/run/x");
  const auto one = [&](std::string_view key) {
    const auto found = find(info.data(), info.size(), key);
    EXPECT_EQ(found.size(), 1u) << key;
    return found.at(0);
  };
  EXPECT_STREQ(one("pmix.jobid")->string, "ares_7.0");
  EXPECT_EQ(one("pmix.job.size")->type, Type::uint32);
  EXPECT_EQ(one("pmix.job.size")->uint32, 5u);
  EXPECT_EQ(one("pmix.num.nodes")->uint32, 2u);
  EXPECT_EQ(one("pmix.local.size")->uint32, 2u);
  EXPECT_STREQ(one("pmix.lpeers")->string, "1,3");
  EXPECT_EQ(one("pmix.lldr")->type, Type::rank);
  EXPECT_EQ(one("pmix.lldr")->uint32, 1u);
  EXPECT_EQ(one("pmix.nmap")->type, Type::map);
  EXPECT_STREQ(one("pmix.nmap")->bytes.bytes, "raw:a,b");
  EXPECT_EQ(one("pmix.nmap")->bytes.size, 8u);
  EXPECT_STREQ(one("pmix.pmap")->bytes.bytes, "raw:0,2,4;1,3");
}

TEST(JobInfo, EachRankIsDescribed) {
  InfoList info = describe_step(kMap, "ares_7.0", {"a", "b"}, "/run/x");
  std::map<std::uint32_t, std::pair<std::uint32_t, std::string>> place;
  for (const Value* value : find(info.data(), info.size(), "pmix.pdata")) {
    ASSERT_EQ(value->type, Type::array);
    ASSERT_EQ(value->array->type, Type::info);
    const auto* infos = static_cast<const Info*>(value->array->elements);
    const std::size_t count = value->array->size;
    EXPECT_EQ(std::string_view(infos[0].key), "pmix.rank") << "the library wants it first";
    place[find(infos, count, "pmix.rank").at(0)->uint32] = {
        find(infos, count, "pmix.lrank").at(0)->uint16,
        find(infos, count, "pmix.hname").at(0)->string};
  }
  EXPECT_EQ(place, (decltype(place){
                       {0, {0, "a"}}, {1, {0, "b"}}, {2, {1, "a"}}, {3, {1, "b"}}, {4, {2, "a"}}}));
}

TEST(JobInfo, TheServerIsToldItsHostAndFolder) {
  InfoList info = describe_server(kMap, {"a", "b"}, "/run/x");
  EXPECT_STREQ(find(info.data(), info.size(), "pmix.hname").at(0)->string, "b");
  EXPECT_STREQ(find(info.data(), info.size(), "pmix.srvr.tmpdir").at(0)->string, "/run/x");
  EXPECT_FALSE(find(info.data(), info.size(), "pmix.srvr.remote").at(0)->boolean);
}

}  // namespace
}  // namespace ares::mpi::pmix
