#include "store/accounting/report_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ares::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Time at(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
  return Time(std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) /
                                    std::chrono::day(day))) +
         std::chrono::hours(hour) + std::chrono::minutes(minute);
}

TEST(ReportPieces, EmptyTimeHasNoSlices) {
  EXPECT_THAT(slices_of(at(2030, 1, 2), at(2030, 1, 2), at(2030, 5, 1)), IsEmpty());
  EXPECT_THAT(slices_of(at(2030, 1, 3), at(2030, 1, 2), {}), IsEmpty());
}

TEST(ReportPieces, TimeWithoutRollupComesFromRecords) {
  const TimeSlice all{RollupLevel::records, at(2030, 1, 2), at(2030, 1, 4)};
  EXPECT_THAT(slices_of(all.from, all.to, {}), ElementsAre(all));
  EXPECT_THAT(slices_of(all.from, all.to, at(2030, 1, 1)), ElementsAre(all));
}

TEST(ReportPieces, WholeMonthsDaysAndHoursComeFromRollups) {
  EXPECT_THAT(
      slices_of(at(2029, 12, 30, 22, 30), at(2030, 3, 2, 1, 15), at(2030, 6, 1)),
      ElementsAre(TimeSlice{RollupLevel::records, at(2029, 12, 30, 22, 30), at(2029, 12, 30, 23)},
                  TimeSlice{RollupLevel::hours, at(2029, 12, 30, 23), at(2029, 12, 31)},
                  TimeSlice{RollupLevel::days, at(2029, 12, 31), at(2030, 1, 1)},
                  TimeSlice{RollupLevel::months, at(2030, 1, 1), at(2030, 3, 1)},
                  TimeSlice{RollupLevel::days, at(2030, 3, 1), at(2030, 3, 2)},
                  TimeSlice{RollupLevel::hours, at(2030, 3, 2), at(2030, 3, 2, 1)},
                  TimeSlice{RollupLevel::records, at(2030, 3, 2, 1), at(2030, 3, 2, 1, 15)}));
}

TEST(ReportPieces, TimeAfterTheLastRollupComesFromRecords) {
  EXPECT_THAT(slices_of(at(2030, 1, 1), at(2030, 1, 3), at(2030, 1, 2, 5)),
              ElementsAre(TimeSlice{RollupLevel::days, at(2030, 1, 1), at(2030, 1, 2)},
                          TimeSlice{RollupLevel::hours, at(2030, 1, 2), at(2030, 1, 2, 5)},
                          TimeSlice{RollupLevel::records, at(2030, 1, 2, 5), at(2030, 1, 3)}));
}

TEST(ReportPieces, PartOfAnHourComesFromRecords) {
  EXPECT_THAT(
      slices_of(at(2030, 1, 1, 5, 10), at(2030, 1, 1, 5, 50), at(2030, 2, 1)),
      ElementsAre(TimeSlice{RollupLevel::records, at(2030, 1, 1, 5, 10), at(2030, 1, 1, 5, 50)}));
}

// For any time: no gaps, no overlaps, and each slice begins and ends at a boundary of its unit.
TEST(ReportPieces, SlicesCoverTheTimeExactly) {
  std::mt19937_64 random(5);
  const Time first = at(2029, 11, 1);
  const auto any = [&] { return first + std::chrono::minutes(random() % (200 * 1440)); };
  for (int turn = 0; turn < 20'000; ++turn) {
    const Time start = any(), end = any(), known = any();
    const auto slices = slices_of(start, end, known);
    Time reached = start;
    for (const TimeSlice& slice : slices) {
      EXPECT_EQ(slice.from, reached);
      EXPECT_LT(slice.from, slice.to);
      reached = slice.to;
      if (slice.level == RollupLevel::records) continue;
      EXPECT_LE(slice.to, known);
      for (const Time border : {slice.from, slice.to}) {
        EXPECT_EQ(border, Time(std::chrono::floor<std::chrono::hours>(border)));
        if (slice.level == RollupLevel::hours) continue;
        const auto day = std::chrono::floor<std::chrono::days>(border);
        EXPECT_EQ(border, Time(day));
        if (slice.level == RollupLevel::months) {
          EXPECT_EQ(std::chrono::year_month_day(day).day(), std::chrono::day(1));
        }
      }
    }
    if (start < end) {
      EXPECT_EQ(reached, end);
    } else {
      EXPECT_THAT(slices, IsEmpty());
    }
  }
}

}  // namespace
}  // namespace ares::store
