#include "store/accounting/report_pieces.h"

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

TEST(ReportPieces, OfAnEmptyTimeThereAreNone) {
  EXPECT_THAT(pieces_of(at(2030, 1, 2), at(2030, 1, 2), at(2030, 5, 1)), IsEmpty());
  EXPECT_THAT(pieces_of(at(2030, 1, 3), at(2030, 1, 2), {}), IsEmpty());
}

TEST(ReportPieces, WhatIsNotSummedUpComesFromRecords) {
  const Piece all{Sums::records, at(2030, 1, 2), at(2030, 1, 4)};
  EXPECT_THAT(pieces_of(all.from, all.to, {}), ElementsAre(all));
  EXPECT_THAT(pieces_of(all.from, all.to, at(2030, 1, 1)), ElementsAre(all));
}

TEST(ReportPieces, WholeMonthsDaysAndHours) {
  EXPECT_THAT(pieces_of(at(2029, 12, 30, 22, 30), at(2030, 3, 2, 1, 15), at(2030, 6, 1)),
              ElementsAre(Piece{Sums::records, at(2029, 12, 30, 22, 30), at(2029, 12, 30, 23)},
                          Piece{Sums::hours, at(2029, 12, 30, 23), at(2029, 12, 31)},
                          Piece{Sums::days, at(2029, 12, 31), at(2030, 1, 1)},
                          Piece{Sums::months, at(2030, 1, 1), at(2030, 3, 1)},
                          Piece{Sums::days, at(2030, 3, 1), at(2030, 3, 2)},
                          Piece{Sums::hours, at(2030, 3, 2), at(2030, 3, 2, 1)},
                          Piece{Sums::records, at(2030, 3, 2, 1), at(2030, 3, 2, 1, 15)}));
}

TEST(ReportPieces, TheEndIsNotSummedUpYet) {
  EXPECT_THAT(pieces_of(at(2030, 1, 1), at(2030, 1, 3), at(2030, 1, 2, 5)),
              ElementsAre(Piece{Sums::days, at(2030, 1, 1), at(2030, 1, 2)},
                          Piece{Sums::hours, at(2030, 1, 2), at(2030, 1, 2, 5)},
                          Piece{Sums::records, at(2030, 1, 2, 5), at(2030, 1, 3)}));
}

TEST(ReportPieces, APartOfAnHourAloneComesFromRecords) {
  EXPECT_THAT(pieces_of(at(2030, 1, 1, 5, 10), at(2030, 1, 1, 5, 50), at(2030, 2, 1)),
              ElementsAre(Piece{Sums::records, at(2030, 1, 1, 5, 10), at(2030, 1, 1, 5, 50)}));
}

// Whatever the time: no gaps, nothing twice, and each piece lies on the borders of its unit.
TEST(ReportPieces, CoverTheTimeExactly) {
  std::mt19937_64 random(5);
  const Time first = at(2029, 11, 1);
  const auto any = [&] { return first + std::chrono::minutes(random() % (200 * 1440)); };
  for (int turn = 0; turn < 20'000; ++turn) {
    const Time start = any(), end = any(), known = any();
    const auto pieces = pieces_of(start, end, known);
    Time reached = start;
    for (const Piece& piece : pieces) {
      EXPECT_EQ(piece.from, reached);
      EXPECT_LT(piece.from, piece.to);
      reached = piece.to;
      if (piece.sums == Sums::records) continue;
      EXPECT_LE(piece.to, known);
      for (const Time border : {piece.from, piece.to}) {
        EXPECT_EQ(border, Time(std::chrono::floor<std::chrono::hours>(border)));
        if (piece.sums == Sums::hours) continue;
        const auto day = std::chrono::floor<std::chrono::days>(border);
        EXPECT_EQ(border, Time(day));
        if (piece.sums == Sums::months) {
          EXPECT_EQ(std::chrono::year_month_day(day).day(), std::chrono::day(1));
        }
      }
    }
    if (start < end) {
      EXPECT_EQ(reached, end);
    } else {
      EXPECT_THAT(pieces, IsEmpty());
    }
  }
}

}  // namespace
}  // namespace ares::store
