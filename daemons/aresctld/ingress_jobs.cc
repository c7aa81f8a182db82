// What clients ask of one job: its script, what it printed, and access to its steps.
#include <algorithm>
#include <optional>
#include <utility>

#include "aresctld/answers.h"
#include "aresctld/ingress.h"
#include "aresctld/output/read_output.h"
#include "aresctld/query/queries.h"
#include "cli/values/job_ids.h"
#include "core/job/decide/privileges.h"
#include "core/job/effects/effects.h"

namespace ares::aresctld {
namespace {

// The job, or the array task with that number of its own, while it can have steps.
Result<const Job*> job_with_steps(const View& view, const Policy& policy, const api::JobRef& ref,
                                  Time now) {
  api::ListJobs one;
  *one.add_jobs() = ref;
  one.set_details(true);
  const auto found = list_jobs(view, policy, one, now);
  if (!found) return fail(found.error());
  const JobKey key = cli::key_of(found->jobs(0).key());
  if (found->jobs_size() != 1)
    return fail(ErrorCode::invalid_argument, std::to_string(key.job.value()) +
                                                 " is an array; name one of its tasks, such as " +
                                                 std::to_string(key.job.value()) + "_0");
  const std::string id = cli::format_job_id(key);
  const Job* job = view.state->jobs.find(key);
  if (!job) return fail(ErrorCode::not_found, "Invalid job id specified: " + id);
  if (job->state == JobState::pending || is_terminal(job->state) || !job->allocation ||
      !job->started)
    return fail(ErrorCode::failed_precondition,
                "job " + id + " has no steps: it is " + std::string(to_string(job->state)));
  return job;
}

}  // namespace

void Ingress::job_script(const Principal& caller, const api::JobScript& request,
                         ResponderPtr responder) {
  api::ListJobs one;
  *one.add_jobs() = request.job();
  one.set_details(true);
  const auto policy = parts_.config.policy();
  const auto found = list_jobs(parts_.views.read(), *policy, one, parts_.clock.now());
  if (!found) return responder->send(refused(found.error()));
  const api::Job& job = found->jobs(0);
  if (job.uid() != caller.uid.value() && !core::is_operator(*policy, caller.uid))
    return responder->send(refused({ErrorCode::permission_denied,
                                    "user " + caller.user + " may not read the script of job " +
                                        std::to_string(request.job().job()) + " of " + job.user() +
                                        ": only its owner, operators and administrators may"}));
  BlobId script{};
  std::copy_n(job.spec().script().begin(), std::min(script.size(), job.spec().script().size()),
              script.begin());
  const auto full =
      parts_.accounting.add(caller.uid, [this, script, ref = request.job(), responder] {
        const auto text = parts_.journal.blob(script);
        if (!text) return responder->send(refused(text.error()));
        api::Response response;
        *response.mutable_script()->mutable_job() = ref;
        response.mutable_script()->set_text(**text);
        responder->send(response);
      });
  if (full) responder->send(refused(*full));
}

void Ingress::output(const Principal& caller, const api::ReadOutput& request,
                     ResponderPtr responder) {
  const auto job =
      job_of_output(parts_.views.read(), *parts_.config.policy(), request, parts_.clock.now());
  if (!job) return responder->send(refused(job.error()));
  const auto full = parts_.accounting.add(caller.uid, [=, this, key = *job] {
    if (responder->abandoned()) return;
    // What is stored from here on is not missed.
    api::ReadOutput later = request;
    later.set_seconds(0);
    std::optional<OutputStore::Ticket> ticket;
    if (request.seconds() > 0)
      ticket = parts_.output.await(key, std::min(Seconds(request.seconds()), kLongestWait),
                                   [=, this] { output(caller, later, responder); });
    auto read = read_output(parts_.views.read(), *parts_.config.policy(), caller, key, request,
                            parts_.stored_output, parts_.clock.now());
    const bool waits = ticket && read && read->data().empty() && !read->ended();
    if (waits || (ticket && !parts_.output.cancel(*ticket))) return;
    responder->send(answer_with(std::move(read), &api::Response::mutable_output));
  });
  if (full) responder->send(refused(*full));
}

// May read the journal; must not run on this thread.
void Ingress::step_access(const Principal& caller, const api::StepAccess& request,
                          ResponderPtr responder) {
  const View view = parts_.views.read();
  const auto policy = parts_.config.policy();
  const Result<const Job*> found = job_with_steps(view, *policy, request.job(), parts_.clock.now());
  if (!found) return responder->send(refused(found.error()));
  const Job* job = *found;
  if (job->spec->uid != caller.uid && !core::is_operator(*policy, caller.uid))
    return responder->send(refused(
        {ErrorCode::permission_denied, "user " + caller.user + " may not run steps in job " +
                                           cli::format_job_id(job->key) + " of " + job->spec->user +
                                           ": only its owner, operators and administrators may"}));
  // Steps run as the job's user: an operator does not become root by them.
  if (job->spec->uid == UserId(0) && caller.uid != UserId(0))
    return responder->send(refused(
        {ErrorCode::permission_denied,
         "job " + cli::format_job_id(job->key) + " is root's, and only root may run steps in it"}));
  const auto full = parts_.accounting.add(caller.uid, [this, caller, view, job, responder] {
    if (responder->abandoned()) return;
    responder->send(
        answer_with(parts_.nodes.step_ticket(*job, *core::layout_of(*view.state, *job), caller.uid),
                    &api::Response::mutable_step_ticket));
  });
  if (full) responder->send(refused(*full));
}

}  // namespace ares::aresctld
