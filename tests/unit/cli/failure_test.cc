// asub: the error message if no reply says whether the jobs were submitted.
#include "asub/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::asub {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Error kAway{ErrorCode::unavailable, "connection lost; gave up after 9 tries"};
const Error kRefused{ErrorCode::invalid_argument, "no such partition"};

Batch lines(std::size_t first, std::size_t last) {
  Batch batch;
  batch.first_line = first;
  batch.last_line = last;
  return batch;
}

// Regression: without the id, which asub had generated, a retry might have submitted the job twice.
TEST(Failure, PossiblySubmittedJobIsReportedWithItsRequestId) {
  const Error told = failure_of_one(kAway, "r-17");
  EXPECT_EQ(told.code, ErrorCode::unavailable);
  EXPECT_THAT(told.message,
              AllOf(HasSubstr("gave up after 9 tries"), HasSubstr("may have been submitted"),
                    HasSubstr("--request-id=r-17")));
  EXPECT_EQ(failure_of_one(kRefused, "r-17"), kRefused) << "it is certainly not there";
}

// Regression: "were not submitted" was wrong if only the reply to the last batch had been lost.
TEST(Failure, PossiblySubmittedLinesOfAFileAreReported) {
  EXPECT_THAT(failure_of_batch(kAway, "jobs.txt", lines(5, 9), "r-17").message,
              AllOf(HasSubstr("jobs.txt: the jobs of lines 5 to 9 may have been submitted"),
                    HasSubstr("those after them were not"), HasSubstr("--request-id=r-17")));
  EXPECT_THAT(failure_of_batch(kRefused, "jobs.txt", lines(5, 9), "r-17").message,
              AllOf(HasSubstr("lines 5 to 9 and those after them were not submitted"),
                    HasSubstr("no such partition"), Not(HasSubstr("may have been"))));
}

}  // namespace
}  // namespace ares::asub
