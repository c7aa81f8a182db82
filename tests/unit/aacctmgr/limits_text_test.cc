// Conversion of limits to text and from text.
#include "aacctmgr/edit/limits_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::aacctmgr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Limits set(const char* name, const std::string& value, Limits limits = {}) {
  const Status done = set_limit(limits, *find_limit(name), value);
  EXPECT_TRUE(done) << done.error().message;
  return limits;
}

std::string refusal(const char* name, const std::string& value) {
  Limits limits;
  const Status done = set_limit(limits, *find_limit(name), value);
  EXPECT_FALSE(done);
  EXPECT_THAT(limits, IsEmpty());
  return done ? "" : done.error().message;
}

TEST(LimitsText, AmountsByTres) {
  const LimitKind kind = LimitKind::grp_tres;
  EXPECT_THAT(set("GrpTRES", "cpu=100,gres/gpu:a100=4,mem=2T"),
              ElementsAre(Limit{kind, "cpu", 100}, Limit{kind, "gres/gpu:a100", 4},
                          Limit{kind, "mem", 2 << 20}));
  EXPECT_THAT(set("grptres", "mem=1500"), ElementsAre(Limit{kind, "mem", 1500})) << "MiB";
  EXPECT_THAT(set("GrpTRES", "mem=1K"), ElementsAre(Limit{kind, "mem", 1})) << "rounded up";
  EXPECT_THAT(set("GrpTRES", "license/matlab=0"), ElementsAre(Limit{kind, "license/matlab", 0}));
}

TEST(LimitsText, UnnamedLimitsStayAndMinusOneRemoves) {
  const Limits two = set("GrpTRES", "cpu=1,mem=1G");
  EXPECT_EQ(limit_text(set("GrpTRES", "cpu=5", two), LimitKind::grp_tres), "cpu=5,mem=1G");
  EXPECT_EQ(limit_text(set("GrpTRES", "cpu=-1", two), LimitKind::grp_tres), "mem=1G");
  EXPECT_THAT(set("GrpTRES", "-1", two), IsEmpty());
  EXPECT_THAT(set("GrpTRES", "", two), IsEmpty());
  EXPECT_THAT(set("MaxJobs", "-1", set("MaxJobs", "4")), IsEmpty());
  EXPECT_THAT(set("MaxWall", "unlimited", set("MaxWall", "4")), IsEmpty());
}

TEST(LimitsText, TimesAreInMinutes) {
  EXPECT_EQ(set("MaxWall", "2-00:00:00")[0].value, 2880u);
  EXPECT_EQ(set("MaxWall", "90")[0].value, 90u);
  EXPECT_EQ(set("MaxWall", "1:30")[0].value, 2u) << "a minute and a half, rounded up";
  EXPECT_EQ(set("MaxWall", "0")[0].value, 0u);
  EXPECT_EQ(limit_text(set("GrpWall", "2880"), LimitKind::grp_wall), "2-00:00:00");
}

TEST(LimitsText, ErrorsSayWhatIsExpected) {
  EXPECT_THAT(refusal("GrpTRES", "cpus=4"), HasSubstr("did you mean \"cpu\""));
  EXPECT_THAT(refusal("GrpTRES", "gpu=4"), HasSubstr("did you mean \"gres/gpu\""));
  EXPECT_THAT(refusal("GrpTRES", "nonsense=4"), HasSubstr("license/NAME"));
  EXPECT_THAT(refusal("GrpTRES", "4"), HasSubstr("expected TRES=AMOUNT"));
  EXPECT_THAT(refusal("GrpTRES", "cpu=1,mem=x"), HasSubstr("GrpTRES: mem"));
  EXPECT_THAT(refusal("MaxJobs", "many"), HasSubstr("MaxJobs: \"many\""));
  EXPECT_THAT(refusal("MaxWall", "soon"), HasSubstr("MaxWall"));
}

}  // namespace
}  // namespace ares::aacctmgr
