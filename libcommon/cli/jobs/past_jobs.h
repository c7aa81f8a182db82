// Jobs that the controller has forgotten, as accounting has them. Used by one thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

struct PastJobs {
  std::vector<api::AccountingRow> rows;  // the last attempt of each, ascending by key
  std::vector<JobKey> unknown;           // jobs that accounting does not have either, as given
};

// Reads the rows of these jobs, all tasks of an array included. An error says that accounting
// did not answer.
Result<PastJobs> read_past_jobs(
    const std::function<Result<api::Response>(const api::Request&)>& call,
    std::span<const JobKey> jobs);

// The same for a list of api::JobRef.
template <class Call, class Refs>
Result<PastJobs> read_past_jobs_of(Call&& call, const Refs& refs) {
  std::vector<JobKey> keys;
  for (const auto& ref : refs) {
    const TaskIndex task = ref.has_task() ? TaskIndex{ref.task()} : TaskIndex{};
    keys.push_back({JobId(ref.job()), task});
  }
  return read_past_jobs(call, keys);
}

// What the row says, as the controller would report the job. What accounting does not record is not set.
api::Job job_of(const api::AccountingRow& row);

// The refusal of the controller for a job that it does not know.
Error unknown_job(const JobKey& key);

}  // namespace ares::cli
