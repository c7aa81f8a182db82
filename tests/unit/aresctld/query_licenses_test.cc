#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aresctld/query/queries.h"

namespace ares::aresctld {
namespace {

TEST(ListLicenses, TellsTheTotalAndWhatJobsHave) {
  auto state = std::make_shared<ClusterState>();
  state->licenses_used.set("matlab", 3);
  View view;
  view.state = state;
  Policy policy;
  policy.licenses = {{"abaqus", 5}, {"matlab", 2}};

  const auto all = list_licenses(view, policy, {});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->licenses_size(), 2);
  EXPECT_EQ(all->licenses(0).name(), "abaqus");
  EXPECT_EQ(all->licenses(0).used(), 0u);
  EXPECT_EQ(all->licenses(1).total(), 2u);
  EXPECT_EQ(all->licenses(1).used(), 3u) << "more than there are since a reconfiguration";

  api::ListLicenses one;
  one.add_names("matlab");
  EXPECT_EQ(list_licenses(view, policy, one)->licenses_size(), 1);
  one.add_names("nosuch");
  const auto unknown = list_licenses(view, policy, one);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("nosuch"));
}

}  // namespace
}  // namespace ares::aresctld
