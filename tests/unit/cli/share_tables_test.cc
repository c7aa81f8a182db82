// How ashare and aprio print a reply.
#include <gmock/gmock.h>

#include "aprio/print.h"
#include "ashare/print.h"

namespace ares {
namespace {

using testing::HasSubstr;

api::Shares shares() {
  api::Shares out;
  api::ShareLine& root = *out.add_lines();
  root.set_account("root");
  root.set_shares(1);
  root.set_norm_shares(1);
  root.set_usage(1234.9);
  api::ShareLine& physics = *out.add_lines();
  physics.set_account("physics");
  physics.set_depth(1);
  physics.set_shares(30);
  physics.set_norm_shares(0.75);
  physics.set_level(0.5);
  api::ShareLine& alice = *out.add_lines();
  alice.set_account("physics");
  alice.set_user("alice");
  alice.set_depth(2);
  alice.set_endless(true);
  alice.set_factor(1.0 / 3);
  return out;
}

TEST(Ashare, PrintsTheTreeAligned) {
  ashare::Query query;
  query.wide = true;
  const auto text = ashare::print(query, shares());
  ASSERT_TRUE(text);
  EXPECT_EQ(
      *text,
      "Account   User  RawShares NormShares RawUsage NormUsage EffectvUsage FairShare  LevelFS\n"
      "root                    1   1.000000     1234  0.000000     0.000000\n"
      " physics               30   0.750000        0  0.000000     0.000000           0.500000\n"
      "  physics alice    parent   0.000000        0  0.000000     0.000000  0.333333      inf\n");
}

TEST(Ashare, PrintsChosenFieldsSeparatedByBars) {
  ashare::Query query;
  query.parsable = query.no_header = query.users_only = true;
  query.format = {"user", "FAIRSHARE", "Account"};
  EXPECT_EQ(ashare::print(query, shares()).value(), "alice|0.333333|physics\n");
  query.format = {"shoesize"};
  EXPECT_THAT(ashare::print(query, shares()).error().message,
              HasSubstr("\"shoesize\" is no field; there are Account, User"));
}

TEST(Aprio, PrintsFactorsWithAndWithoutWeights) {
  api::Priorities all;
  for (const char* name : {"AGE", "FAIRSHARE", "NICE"}) all.add_factors(name);
  for (const double weight : {1000.0, 500.0, 1.0}) all.add_weights(weight);
  api::Priorities::Line& line = *all.add_lines();
  line.mutable_job()->set_job(12);
  line.mutable_job()->set_task(3);
  line.set_partition("main");
  line.set_value(740);
  for (const double value : {0.5, 0.5, -10.0}) line.add_normalised(value);
  for (const double value : {500.0, 250.0, -10.0}) line.add_weighted(value);
  aprio::Query query;
  EXPECT_EQ(aprio::print(query, all),
            "JOBID PARTITION PRIORITY AGE FAIRSHARE\n"
            " 12_3      main      740 500       250\n");
  query.normalised = query.no_header = true;
  EXPECT_EQ(aprio::print(query, all), "12_3 main 740 0.5000000 0.5000000\n");
  query = {};
  query.weights = query.wide = true;
  EXPECT_EQ(aprio::print(query, all),
            "  JOBID PARTITION USER ACCOUNT QOS PRIORITY  AGE FAIRSHARE NICE\n"
            "Weights                                     1000       500    1\n");
}

}  // namespace
}  // namespace ares
