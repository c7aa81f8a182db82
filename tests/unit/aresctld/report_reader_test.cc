#include "aresctld/accounting/report_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::aresctld {
namespace {

using ::testing::ElementsAre;

TEST(ReportReader, ReportEndsNowAtTheLatestInWholeSeconds) {
  api::Report query;
  query.set_kind(api::Report::USAGE);
  query.set_start(10'999'999);
  query.set_end(100'000'000);
  query.add_users("alice");
  query.set_by_user(true);
  query.add_sizes(50);
  query.add_sizes(10);
  const store::ReportFilter filter = to_filter(query, Time(Duration(60'500'000)));
  EXPECT_EQ(filter.kind, api::Report::USAGE);
  EXPECT_EQ(filter.start, Time(Seconds(10)));
  EXPECT_EQ(filter.end, Time(Seconds(60)));
  EXPECT_THAT(filter.users, ElementsAre("alice"));
  EXPECT_TRUE(filter.by_user && !filter.by_account && !filter.by_qos);
  EXPECT_THAT(filter.sizes, ElementsAre(10, 50));
}

}  // namespace
}  // namespace ares::aresctld
