// Tests: identity, request_limits
// Bounds of requests from clients.
#include "aresctld/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::aresctld {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Principal kAlice{UserId{1000}, GroupId{1000}, "alice", "login"};

Result<UserBody> command(const api::Request& request) {
  Identity identity;
  return to_command(kAlice, Policy{}, request, identity);
}

// Each array is within its bound; together they would take gigabytes of memory.
TEST(SubmitManyCommand, RangesOfAllArraysAreBounded) {
  api::Request request;
  api::SubmitMany& many = *request.mutable_submit_many();
  many.add_scripts("#!/bin/sh\n");
  many.add_environments("");
  for (int i = 0; i < 200; ++i) {
    api::JobSpec& spec = *many.add_items()->mutable_spec();
    spec.set_name("job" + std::to_string(i));
    spec.set_array("0-19998:2");
  }
  const auto refused = command(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message, StartsWith("job 101 of 200: "));
  EXPECT_THAT(refused.error().message, HasSubstr("at most 1000000 are allowed in one request"));

  many.mutable_items()->DeleteSubrange(100, 100);
  EXPECT_TRUE(command(request));
}

TEST(SubmitManyCommand, EqualJobsShareTheirArrayAndCountOnce) {
  api::Request request;
  api::SubmitMany& many = *request.mutable_submit_many();
  many.add_scripts("#!/bin/sh\n");
  many.add_environments("");
  for (int i = 0; i < 200; ++i) many.add_items()->mutable_spec()->set_array("0-19998:2");
  const auto taken = command(request);
  ASSERT_TRUE(taken) << taken.error().message;
  const auto& specs = std::get<SubmitMany>(*taken).specs;
  EXPECT_EQ(specs.front(), specs.back());
}

TEST(CancelCommand, NumberOfNamedJobsIsBounded) {
  api::Request request;
  api::JobSelector& jobs = *request.mutable_cancel()->mutable_jobs();
  for (int i = 0; i < 100'000; ++i) jobs.add_jobs()->set_job(1);
  EXPECT_TRUE(command(request));
  jobs.add_jobs()->set_job(1);
  const auto refused = command(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr("100001 jobs and tasks are named"));
}

}  // namespace
}  // namespace ares::aresctld
