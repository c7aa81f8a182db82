// How far the other jobs step back for `actl top`.
#include "actl/top.h"

#include <gtest/gtest.h>

namespace ares::actl {
namespace {

api::Job pending(std::uint64_t id, std::int32_t nice, std::uint32_t priority = 10) {
  api::Job job;
  job.mutable_key()->set_job(id);
  job.set_user("ada");
  job.set_account("physics");
  job.set_qos("normal");
  job.set_partition("main");
  job.set_state("PENDING");
  job.set_reason("Priority");
  job.set_priority(priority);
  job.mutable_spec()->set_nice(nice);
  return job;
}

// "2=1 3,4=5": the jobs and their new nice values.
std::string moved(const api::Job& job, const std::vector<api::Job>& others,
                  const std::string& policy = "priority") {
  api::Jobs all;
  *all.add_jobs() = job;
  for (const api::Job& other : others) *all.add_jobs() = other;
  const auto changes = nice_for_top(job, all, policy);
  if (!changes) return changes.error().message;
  std::string text;
  for (const NiceChange& change : *changes) {
    text += text.empty() ? "" : " ";
    for (const api::JobRef& ref : change.jobs) text += std::to_string(ref.job()) + ",";
    text.back() = '=';
    text += std::to_string(change.nice);
  }
  return text;
}

TEST(Top, OthersStepBackTogetherJustFarEnough) {
  EXPECT_EQ(moved(pending(9, 0), {pending(1, 0), pending(2, 0)}), "1,2=1");
  EXPECT_EQ(moved(pending(9, 50), {pending(1, 0), pending(2, 7)}), "2=58 1=51");
  EXPECT_EQ(moved(pending(1, 0), {pending(2, 0), pending(3, 5)}), "") << "it is the first";
  EXPECT_EQ(moved(pending(9, 0), {}), "");
}

TEST(Top, MultifactorComparesPriorities) {
  EXPECT_EQ(moved(pending(9, 0, 100), {pending(1, 0, 150), pending(2, 5, 90)}, "multifactor"),
            "2=56 1=51");
  EXPECT_EQ(moved(pending(1, 0, 100), {pending(2, 0, 100)}, "multifactor"), "");
}

TEST(Top, TasksOfTheSameArrayStay) {
  api::Job task = pending(9, 0);
  task.mutable_key()->set_task(3);
  EXPECT_EQ(moved(pending(9, 0), {pending(1, 0), task}), "1=1");
  EXPECT_EQ(moved(task, {pending(1, 0)}), "1=1");
}

TEST(Top, OnlyJobsOfTheSameQueueStepBack) {
  api::Job account = pending(1, 0), qos = pending(2, 0), partition = pending(3, 0),
           user = pending(4, 0), held = pending(5, 0);
  account.set_account("chem");
  qos.set_qos("high");
  partition.set_partition("debug");
  user.set_user("bob");
  held.set_reason("JobHeldUser");
  EXPECT_EQ(moved(pending(9, 0), {account, qos, partition, user, held}), "");
}

TEST(Top, WhatCannotMoveIsRefused) {
  api::Job job = pending(9, 0);
  EXPECT_NE(moved(job, {}, "fifo").find("fifo"), std::string::npos);
  job.set_reason("JobHeldAdmin");
  EXPECT_NE(moved(job, {}).find("release it first"), std::string::npos);
  job.set_state("RUNNING");
  EXPECT_NE(moved(job, {}).find("it is RUNNING"), std::string::npos);
}

}  // namespace
}  // namespace ares::actl
