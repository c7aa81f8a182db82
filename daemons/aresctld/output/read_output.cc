#include "aresctld/output/read_output.h"

#include "aresctld/query/queries.h"
#include "cli/values/job_ids.h"
#include "core/job/decide/privileges.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

// Until then a job that has just started may have nothing stored yet.
constexpr Seconds kFirstPart{15};

Status check_reader(const Policy& policy, const Principal& caller, JobKey job, UserId owner) {
  if (caller.uid == owner || core::is_operator(policy, caller.uid)) return {};
  return fail(ErrorCode::permission_denied,
              "user " + caller.user + " may not read the output of job " + cli::format_job_id(job) +
                  ": only its owner, operators and administrators may");
}

// Of a job without a part that is stored.
Result<api::Output> nothing_stored(const Job* job, const Policy& policy, const Principal& caller,
                                   JobKey key, Time now) {
  const std::string id = cli::format_job_id(key);
  if (!job)
    return fail(ErrorCode::not_found,
                "there is no job " + id + ", or nothing is stored of what it printed");
  if (Status may = check_reader(policy, caller, key, job->spec->uid); !may)
    return fail(may.error());
  const bool may_begin =
      !is_terminal(job->state) && (!job->started || now - *job->started < kFirstPart);
  if (!may_begin)
    return fail(ErrorCode::not_found, "nothing is stored of what job " + id +
                                          " prints: its output is in its files, see StdOut in "
                                          "actl show job " +
                                          id);
  api::Output out;
  proto::to_api(key, out.mutable_job());
  return out;
}

}  // namespace

Result<JobKey> job_of_output(const View& view, const Policy& policy, const api::ReadOutput& request,
                             Time now) {
  api::ListJobs one;
  *one.add_jobs() = request.job();
  one.set_details(true);
  const auto found = list_jobs(view, policy, one, now);
  // The controller may have forgotten it, while its output is kept.
  if (!found) return proto::from_api(request.job());
  if (found->jobs_size() == 1) return cli::key_of(found->jobs(0).key());
  const std::string id = std::to_string(request.job().job());
  return fail(ErrorCode::invalid_argument,
              id + " is an array; name one of its tasks, such as " + id + "_0");
}

Result<api::Output> read_output(const View& view, const Policy& policy, const Principal& caller,
                                JobKey key, const api::ReadOutput& request,
                                store::OutputReader& stored, Time now) {
  const Job* job = view.state->jobs.find(key);
  auto piece = stored.read(key, AttemptNo(request.attempt()), request.rank(), request.offset());
  if (!piece && piece.error().code == ErrorCode::not_found) {
    if (request.attempt() == 0 && request.rank() == 0)
      return nothing_stored(job, policy, caller, key, now);
    return fail(ErrorCode::not_found,
                "nothing is stored of that attempt or rank of job " + cli::format_job_id(key));
  }
  if (!piece) return fail(piece.error());
  if (Status may = check_reader(policy, caller, key, piece->owner); !may) return fail(may.error());
  api::Output out;
  proto::to_api(key, out.mutable_job());
  out.set_attempt(piece->of.attempt.value());
  out.set_offset(piece->offset);
  out.set_data(std::move(piece->data));
  out.set_size(piece->size);
  // A node that is lost tells no end.
  const bool runs =
      job && !is_terminal(job->state) && job->allocation && job->attempt == piece->of.attempt;
  out.set_ended(piece->ended || !runs);
  return out;
}

}  // namespace ares::aresctld
