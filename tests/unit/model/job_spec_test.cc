// Tests: model/job/job
#include <gtest/gtest.h>

#include "model/job/job.h"

namespace ares {
namespace {

// The controller keeps one for each pending job, of which there may be a million. A new member that few jobs have is boxed
// (base/boxed_or_default.h); one that most have may raise this number.
static_assert(sizeof(JobSpec) <= 900);

TEST(JobSpec, AMemberThatWasEmptiedEqualsOneThatWasNeverSet) {
  JobSpec spec;
  spec.comment = "x";
  spec.features = {"fast"};
  spec.binding.edit().hint = "nomultithread";
  EXPECT_FALSE(spec == JobSpec());
  const JobSpec copy = spec;
  EXPECT_EQ(copy, spec);
  spec.comment = "";
  spec.features.edit().pop_back();
  spec.binding.edit().hint.clear();
  EXPECT_EQ(spec, JobSpec());
  EXPECT_EQ(copy.comment, "x");
  EXPECT_EQ(copy.features.size(), 1u);
}

}  // namespace
}  // namespace ares
