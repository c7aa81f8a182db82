// What clients ask of the cluster's state and of the controller itself.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "aresctld/account_commands.h"
#include "aresctld/commands.h"
#include "aresctld/ingress.h"
#include "aresctld/notify/check_recipients.h"
#include "aresctld/query/queries.h"
#include "base/printable.h"
#include "config/shown_webhooks.h"
#include "core/job/decide/privileges.h"
#include "proto/convert.h"
#include "proto/request_digest.h"

namespace ares::aresctld {

void Ingress::jobs(const Call& call) {
  const api::ListJobs& query = call.request->list_jobs();
  auto jobs = list_jobs(call.view, call.policy(), query, call.now, &identity_);
  if (jobs && jobs->jobs().empty() && jobs->table().rows() == 0)
    if (Status known = check_users(query, identity_); !known) jobs = fail(known.error());
  call.send(std::move(jobs), &api::Response::mutable_jobs);
}

void Ingress::nodes(const Call& call) {
  call.send(list_nodes(call.view, parts_.nodes, call.policy(), identity_,
                       call.request->list_nodes(), call.now),
            &api::Response::mutable_nodes);
}

void Ingress::partitions(const Call& call) {
  call.send(list_partitions(call.view, call.request->list_partitions()),
            &api::Response::mutable_partitions);
}

void Ingress::reservations(const Call& call) {
  call.send(list_reservations(call.view, identity_, call.request->list_reservations(), call.now),
            &api::Response::mutable_reservations);
}

void Ingress::licenses(const Call& call) {
  call.send(list_licenses(call.view, call.policy(), call.request->list_licenses()),
            &api::Response::mutable_licenses);
}

void Ingress::ping(const Call& call) {
  api::Pong answer =
      pong(call.view, parts_.nodes, call.policy(), parts_.database_state(), call.now);
  answer.set_clock_ahead(parts_.clock.ahead().count());
  answer.set_plugins_set_aside(set_aside_text(parts_.plugins.list(*call.config)));
  call.send(Result<api::Pong>(std::move(answer)), &api::Response::mutable_pong);
}

void Ingress::plugins(const Call& call) {
  call.send(Result<api::Plugins>(parts_.plugins.list(*call.config)),
            &api::Response::mutable_plugins);
}

void Ingress::show_config(const Call& call) {
  config::Config shown = *call.config;
  if (!core::is_operator(call.policy(), call.caller.uid))
    shown.notify = config::visible_to(std::move(shown.notify), call.caller.user);
  api::Response response;
  response.mutable_config()->set_yaml(config::to_yaml(shown));
  call.responder->send(std::move(response));
}

void Ingress::wait_job(const Call& call) {
  const api::WaitJob& asked = call.request->wait_job();
  const auto key = proto::from_api(asked.job());
  if (!key) return call.responder->send(refused(key.error()));
  api::ListJobs one;
  *one.add_jobs() = asked.job();
  one.set_details(true);
  parts_.job_waiters.add(*key, asked.start(),
                         call.now + std::min(Seconds(asked.seconds()), kLongestWait),
                         [this, one, responder = call.responder](const View& later) {
                           responder->send(answer_with(
                               list_jobs(later, *parts_.config.policy(), one, parts_.clock.now()),
                               &api::Response::mutable_jobs));
                         });
}

// Refusals come before the stream: it has the same rules as the listing.
void Ingress::watch(const Call& call) {
  const api::Watch& asked = call.request->watch();
  if (!call.responder->takes_parts() || asked.has_jobs() == asked.has_accounting())
    return call.responder->send(
        refused({ErrorCode::invalid_argument, "a stream is of jobs or of accounting"}));
  if (asked.has_jobs()) {
    api::ListJobs one = asked.jobs();
    one.set_page(1);
    const auto jobs = list_jobs(call.view, call.policy(), one, call.now);
    if (!jobs) return call.responder->send(refused(jobs.error()));
    if (jobs->jobs().empty() && jobs->table().rows() == 0)
      if (Status known = check_users(asked.jobs(), identity_); !known)
        return call.responder->send(refused(known.error()));
  }
  parts_.watches.add(call.caller, asked, call.responder);
}

void Ingress::account_records(const Call& call) {
  call.send(list_account_records(call.view, call.policy(), call.request->list_account_records()),
            &api::Response::mutable_account_records);
}

void Ingress::shares(const Call& call) {
  call.send(Result<api::Shares>(
                list_shares(call.view, call.policy(), call.request->list_shares(), call.now)),
            &api::Response::mutable_shares);
}

void Ingress::priorities(const Call& call) {
  call.send(list_priorities(call.view, call.policy(), call.request->list_priorities(), call.now),
            &api::Response::mutable_priorities);
}

void Ingress::use(const Call& call) {
  call.send(list_use(call.view, parts_.nodes, call.policy(), call.request->list_use(), call.now),
            &api::Response::mutable_running_use);
}

void Ingress::explain_job(const Call& call) {
  call.send(explain(call.view, call.policy(), call.request->explain_job(), call.now),
            &api::Response::mutable_explanation);
}

// The hook may take as long as the site permits.
void Ingress::test_submit(const Call& call) {
  if (call.config->submit_hook.file.empty())
    return queue(parts_.queries, call, &Ingress::estimate_start);
  const auto full = parts_.hook_calls.add(call.caller.uid, [this, call] {
    if (call.responder->abandoned()) return;
    Call changed = call;
    const auto asked = std::make_shared<api::Request>(*call.request);
    const auto said = ask_hook(call.caller, *asked, *call.config, call.responder);
    if (!said) return call.responder->send(refused(said.error()));
    changed.request = asked;
    queue(parts_.queries, changed, &Ingress::estimate_start);
  });
  if (full) call.responder->send(refused(*full));
}

void Ingress::estimate_start(const Call& call) {
  const View view = parts_.views.read();
  const auto submit =
      to_submission(call.caller, call.policy(), call.request->test_submit().submit());
  if (!submit) return call.responder->send(refused(submit.error()));
  if (const Status good =
          check_webhooks(*submit, call.config->notify, call.caller.user, *view.state);
      !good)
    return call.responder->send(refused(good.error()));
  call.send(estimate(view, call.policy(), call.caller, *submit, parts_.clock.now()),
            &api::Response::mutable_estimate);
}

void Ingress::dump(const Call& call) {
  const api::DumpView& asked = call.request->dump_view();
  if (asked.dump() != 0)
    return call.send(parts_.dumps.part(asked.dump(), asked.offset()),
                     &api::Response::mutable_view_part);
  auto dump = dump_view(call.view, *call.config, call.now);
  if (!dump) return call.responder->send(refused(dump.error()));
  call.send(Result<api::ViewPart>(parts_.dumps.keep(*std::move(dump))),
            &api::Response::mutable_view_part);
}

void Ingress::reconfigure(const Call& call) {
  const api::Reconfigure& asked = call.request->reconfigure();
  if (!asked.dry_run() && !asked.text().empty())
    return call.responder->send(
        refused({ErrorCode::invalid_argument,
                 "another file than the controller's own can only be looked at: copy it to " +
                     call.config->path + " and reconfigure then"}));
  const auto reply = [responder = call.responder](Result<api::Reconfigured> result) {
    responder->send(answer_with(std::move(result), &api::Response::mutable_reconfigured));
  };
  if (asked.dry_run()) return reply(parts_.reconfigurer.preview(asked));
  parts_.reconfigurer.apply(call.caller, call.request->request_id(),
                            proto::request_digest(*call.request), reply);
}

void Ingress::set_log_level(const Call& call) {
  constexpr std::string_view kLevels[] = {"trace", "debug", "info", "warn", "error"};
  const std::string& name = call.request->set_log_level().level();
  if (std::find(std::begin(kLevels), std::end(kLevels), name) == std::end(kLevels))
    return call.responder->send(
        refused(Error{ErrorCode::invalid_argument,
                      quote(name) + " is none of trace, debug, info, warn and error"}));
  const auto before = spdlog::get_level(), after = spdlog::level::from_str(name);
  const std::string was(kLevels[std::min<std::size_t>(before, std::size(kLevels) - 1)]);
  // Whatever the two levels are, the log has the line.
  spdlog::set_level(std::min({before, after, spdlog::level::info}));
  spdlog::info("log level {} in place of {}, asked for by {} on {}", name, was, call.caller.user,
               call.caller.host);
  spdlog::set_level(after);
  api::Response response;
  response.mutable_acted()->set_text("the controller logs from level " + name +
                                     " on, in place of " + was +
                                     ", until it is configured or started again");
  call.responder->send(std::move(response));
}

void Ingress::shutdown(const Call& call) {
  spdlog::info("shutdown asked for by {} on {}", call.caller.user, call.caller.host);
  api::Response response;
  response.mutable_acted()->set_text("the controller is shutting down");
  call.responder->send(std::move(response));
  parts_.shut_down();
}

}  // namespace ares::aresctld
