#include "core/accounts/limits/limit_reason_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/accounts/limits/limit_reasons.h"
#include "model/accounts/accounts.h"

namespace ares::core {
namespace {

using testing::HasSubstr;

// Whatever a limit may name as the reason of a job has a meaning.
TEST(LimitReasons, EachThatALimitGivesIsListed) {
  for (int kind = 0; kind <= static_cast<int>(kLastLimitKind); ++kind)
    for (const char* tres :
         {"", "cpu", "mem", "node", "gres/gpu", "gres/gpu:a100", "license/matlab", "billing"})
      for (const bool of_qos : {false, true}) {
        const LimitRow& row = row_of(static_cast<LimitKind>(kind));
        const bool each = row.unit == LimitUnit::tres || row.unit == LimitUnit::tres_minutes;
        if (each == std::string_view(tres).empty() || (of_qos ? !row.qos : !row.association))
          continue;
        const std::string name = reason_name(row.kind, tres, of_qos);
        if (!name.empty()) {
          EXPECT_NE(meaning_of_limit(name), "") << name;
        }
      }
}

TEST(LimitReasons, TheMeaningNamesTheLimitAndWhoseItIs) {
  EXPECT_EQ(meaning_of_limit("AssocGrpCpuLimit"),
            "waits because of the limit GrpTRES on CPUs of its account or user (TRES that running "
            "jobs hold, all together)");
  EXPECT_THAT(meaning_of_limit("QOSMaxJobsPerUserLimit"), HasSubstr("of its QOS"));
  EXPECT_EQ(meaning_of_limit("Priority"), "");
}

}  // namespace
}  // namespace ares::core
