// What clients ask of one job: its script, what it printed, access to its steps, and to tell it something.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "aresctld/ingress.h"
#include "aresctld/output/read_output.h"
#include "aresctld/query/queries.h"
#include "cli/values/job_ids.h"
#include "core/job/decide/privileges.h"
#include "core/job/effects/effects.h"
#include "steps/script_message.h"

namespace ares::aresctld {
namespace {

// The job, or the array task with that number of its own.
Result<const Job*> one_job(const View& view, const Policy& policy, const api::JobRef& ref,
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
  if (const Job* job = view.state->jobs.find(key)) return job;
  return fail(ErrorCode::not_found, "Invalid job id specified: " + cli::format_job_id(key));
}

// The same, while it can have steps.
Result<const Job*> job_with_steps(const View& view, const Policy& policy, const api::JobRef& ref,
                                  Time now) {
  Result<const Job*> found = one_job(view, policy, ref, now);
  if (!found) return found;
  const Job* job = *found;
  if (job->state == JobState::pending || is_terminal(job->state) || !job->allocation ||
      !job->started)
    return fail(ErrorCode::failed_precondition, "job " + cli::format_job_id(job->key) +
                                                    " has no steps: it is " +
                                                    std::string(to_string(job->state)));
  return job;
}

// Why no script reads it; empty: one may.
std::string why_untold(const Job& job) {
  if (job.state == JobState::suspended)
    return "it is SUSPENDED, and can be told something when it has been resumed";
  if (job.state != JobState::running || !job.allocation || !job.started)
    return "only a job that runs can be told something, and it is " +
           std::string(to_string(job.state));
  return {};
}

}  // namespace

void Ingress::job_script(const Call& call) {
  const api::JobRef& ref = call.request->job_script().job();
  api::ListJobs one;
  *one.add_jobs() = ref;
  one.set_details(true);
  const auto found = list_jobs(call.view, call.policy(), one, call.now);
  if (!found) return call.responder->send(refused(found.error()));
  const api::Job& job = found->jobs(0);
  if (job.uid() != call.caller.uid.value() && !core::is_operator(call.policy(), call.caller.uid))
    return call.responder->send(
        refused({ErrorCode::permission_denied,
                 "user " + call.caller.user + " may not read the script of job " +
                     std::to_string(ref.job()) + " of " + job.user() +
                     ": only its owner, operators and administrators may"}));
  BlobId script{};
  std::copy_n(job.spec().script().begin(), std::min(script.size(), job.spec().script().size()),
              script.begin());
  const auto text = parts_.journal.blob(script);
  if (!text) return call.responder->send(refused(text.error()));
  api::Response response;
  *response.mutable_script()->mutable_job() = ref;
  response.mutable_script()->set_text(**text);
  call.responder->send(std::move(response));
}

void Ingress::output(const Call& call) {
  const api::ReadOutput& asked = call.request->read_output();
  const auto key =
      job_of_output(parts_.views.read(), *parts_.config.policy(), asked, parts_.clock.now());
  if (!key) return call.responder->send(refused(key.error()));
  std::optional<OutputStore::Ticket> ticket;
  if (asked.seconds() > 0) {
    // What is stored from here on is not missed.
    const auto later = std::make_shared<api::Request>(*call.request);
    later->mutable_read_output()->set_seconds(0);
    Call again = call;
    again.request = later;
    ticket =
        parts_.output.await(*key, std::min(Seconds(asked.seconds()), kLongestWait),
                            [this, again] { queue(parts_.database, again, &Ingress::output); });
  }
  auto read = read_output(parts_.views.read(), *parts_.config.policy(), call.caller, *key, asked,
                          parts_.stored_output, parts_.clock.now());
  const bool waits = ticket && read && read->data().empty() && !read->ended();
  if (waits || (ticket && !parts_.output.cancel(*ticket))) return;
  call.send(std::move(read), &api::Response::mutable_output);
}

// May read the journal.
void Ingress::step_access(const Call& call) {
  const View view = parts_.views.read();
  const auto policy = parts_.config.policy();
  const Result<const Job*> found =
      job_with_steps(view, *policy, call.request->step_access().job(), parts_.clock.now());
  if (!found) return call.responder->send(refused(found.error()));
  const Job& job = **found;
  if (job.spec->uid != call.caller.uid && !core::is_operator(*policy, call.caller.uid))
    return call.responder->send(refused(
        {ErrorCode::permission_denied, "user " + call.caller.user + " may not run steps in job " +
                                           cli::format_job_id(job.key) + " of " + job.spec->user +
                                           ": only its owner, operators and administrators may"}));
  // Steps run as the job's user: an operator does not become root by them.
  if (job.spec->uid == UserId(0) && call.caller.uid != UserId(0))
    return call.responder->send(refused(
        {ErrorCode::permission_denied,
         "job " + cli::format_job_id(job.key) + " is root's, and only root may run steps in it"}));
  call.send(parts_.nodes.step_ticket(job, *core::layout_of(*view.state, job), call.caller.uid),
            &api::Response::mutable_step_ticket);
}

void Ingress::notify_job(const Call& call) {
  const api::NotifyJob& asked = call.request->notify_job();
  if (Status good = steps::check_message(asked.text()); !good)
    return call.responder->send(refused(good.error()));
  const Principal& caller = call.caller;
  const Result<const Job*> found = one_job(call.view, call.policy(), asked.job(), call.now);
  if (!found) return call.responder->send(refused(found.error()));
  const Job& job = **found;
  const std::string name = "job " + cli::format_job_id(job.key);
  if (job.spec->uid != caller.uid && !core::is_operator(call.policy(), caller.uid))
    return call.responder->send(
        refused({ErrorCode::permission_denied, "user " + caller.user + " may not tell " + name +
                                                   " of " + job.spec->user +
                                                   " something: only its owner, operators and "
                                                   "administrators may"}));
  if (const std::string why = why_untold(job); !why.empty())
    return call.responder->send(refused({ErrorCode::failed_precondition, name + ": " + why}));
  const std::string node = core::layout_of(*call.view.state, job)->names.front();
  spdlog::info("message of {} on {} for {} on {}", caller.user, caller.host, name, node);
  parts_.nodes.tell_script(
      node, AttemptKey{job.key, job.attempt}, steps::message_line(caller.user, asked.text()),
      [responder = call.responder, name, node](const Status& told) {
        if (!told)
          return responder->send(
              refused({told.error().code,
                       name + " on node " + node + " was not told: " + told.error().message}));
        api::Response response;
        response.mutable_acted();
        responder->send(std::move(response));
      });
}

}  // namespace ares::aresctld
