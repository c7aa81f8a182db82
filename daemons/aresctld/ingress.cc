#include "aresctld/ingress.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "aresctld/account_commands.h"
#include "aresctld/answers.h"
#include "aresctld/commands.h"
#include "aresctld/notify/check_recipients.h"
#include "aresctld/past_targets.h"
#include "aresctld/query/queries.h"
#include "config/shown_webhooks.h"
#include "core/job/decide/privileges.h"
#include "proto/convert.h"
#include "proto/request_digest.h"

namespace ares::aresctld {
namespace {

api::Response answer_of(const core::Reply& reply) {
  if (reply.failed)
    return refused(reply.error, reply.error.code == ErrorCode::unavailable ? kRetryAfterMs : 0);
  api::Response response;
  api::Acted* acted = response.mutable_acted();
  for (const JobKey& key : reply.jobs) proto::to_api(key, acted->add_jobs());
  acted->set_text(reply.text);
  return response;
}

api::Response account_answer(const View& view, const Policy& policy, const api::Request& request,
                             Time now) {
  switch (request.body_case()) {
    case api::Request::kListAccountRecords:
      return answer_with(list_account_records(view, policy, request.list_account_records()),
                         &api::Response::mutable_account_records);
    case api::Request::kListShares:
      return answer_with(Result<api::Shares>(list_shares(view, policy, request.list_shares(), now)),
                         &api::Response::mutable_shares);
    default:
      return answer_with(list_priorities(view, policy, request.list_priorities(), now),
                         &api::Response::mutable_priorities);
  }
}

}  // namespace

void Ingress::mutate(Principal caller, const api::Request& request, ResponderPtr responder) {
  if (request.request_id().empty() || request.request_id().size() > 128) {
    responder->send(
        refused({ErrorCode::invalid_argument, "a request id must have 1 to 128 characters"}));
    return;
  }
  if (request.has_reboot_nodes() && !request.reboot_nodes().cancel() &&
      parts_.config.read()->node.reboot_program.empty()) {
    responder->send(refused({ErrorCode::failed_precondition,
                             "nodes cannot be rebooted: node.reboot_program is not set in " +
                                 parts_.config.read()->path}));
    return;
  }
  const std::size_t bytes = request.ByteSizeLong();
  if (auto full = parts_.engine.refusal(caller.uid, bytes)) {
    responder->send(refused({ErrorCode::unavailable, std::move(*full)}, kRetryAfterMs));
    return;
  }
  const auto config = parts_.config.read();
  const Digest digest = proto::request_digest(request);  // of what the user sent
  if (config->submit_hook.file.empty() || !SubmitHooks::concerns(request) ||
      is_remembered(caller, request.request_id(), digest))
    return accept(std::move(caller), request, digest, bytes, "", std::move(responder));
  const UserId uid = caller.uid;
  const auto full =
      parts_.hook_calls.add(uid, [=, this, shared = std::make_shared<api::Request>(request)] {
        if (responder->abandoned()) return;
        const api::Request original = *shared;
        const auto said = is_remembered(caller, original.request_id(), digest)
                              ? Result<std::string>(std::string())
                              : ask_hook(caller, *shared, *config, responder);
        // Another one with the same id may have been accepted meanwhile: the answer is the one that it got.
        if (!said && !is_remembered(caller, original.request_id(), digest))
          return responder->send(refused(said.error()));
        accept(caller, said ? *shared : original, digest, bytes, said.value_or(""), responder);
      });
  if (full) responder->send(refused(*full));
}

Result<std::string> Ingress::ask_hook(const Principal& caller, api::Request& request,
                                      const config::Config& config, const ResponderPtr& responder) {
  const View view = parts_.views.read();
  return parts_.submit_hooks.run(caller, request,
                                 {config.submit_hook, view, config.policy, parts_.clock.now(),
                                  [responder] { return responder->abandoned(); }});
}

// The hook may take as long as the site permits, and the estimate needs a pass over the queue: neither is for these threads.
void Ingress::test_submit(Principal caller, const api::Request& request, ResponderPtr responder) {
  const auto config = parts_.config.read();
  const UserId uid = caller.uid;
  const auto answer = [=, this](const api::Request& asked) {
    const View view = parts_.views.read();
    const auto submit = to_submission(caller, config->policy, asked.test_submit().submit());
    if (!submit) return responder->send(refused(submit.error()));
    if (const Status good = check_webhooks(*submit, config->notify, caller.user, *view.state);
        !good)
      return responder->send(refused(good.error()));
    responder->send(answer_with(estimate(view, config->policy, caller, *submit, parts_.clock.now()),
                                &api::Response::mutable_estimate));
  };
  const auto queue_answer = [=, this](std::shared_ptr<api::Request> asked) {
    const auto full = parts_.accounting.add(uid, [=] {
      if (!responder->abandoned()) answer(*asked);
    });
    if (full) responder->send(refused(*full));
  };
  auto shared = std::make_shared<api::Request>(request);
  if (config->submit_hook.file.empty()) return queue_answer(std::move(shared));
  const auto full = parts_.hook_calls.add(uid, [=, this] {
    if (responder->abandoned()) return;
    const auto said = ask_hook(caller, *shared, *config, responder);
    if (!said) return responder->send(refused(said.error()));
    queue_answer(shared);
  });
  if (full) responder->send(refused(*full));
}

// Whether the same request was accepted before: then it is answered as it was, whatever ares.yaml says now.
bool Ingress::is_remembered(const Principal& caller, const std::string& id,
                            const Digest& digest) const {
  const View view = parts_.views.read();
  const Request* known = view.state->requests.find(RequestKey{caller.uid, id});
  return known && known->digest == digest;
}

// `said`: what the user is told if the request is accepted.
void Ingress::accept(Principal caller, const api::Request& request, const Digest& digest,
                     std::size_t bytes, std::string said, ResponderPtr responder) {
  auto body = to_command(caller, *parts_.config.policy(), request, identity_);
  if (!body) {
    responder->send(refused(body.error()));
    return;
  }
  const bool repeats = is_remembered(caller, request.request_id(), digest);
  if (!repeats) {
    const auto config = parts_.config.read();
    const View view = parts_.views.read();
    if (Status good = check_webhooks(*body, config->notify, caller.user, *view.state); !good) {
      responder->send(refused(good.error()));
      return;
    }
    const std::string warning = mail_warning(*body, *config);
    if (!warning.empty()) said += (said.empty() ? "" : "; ") + warning;
  }
  UserCommand command;
  command.who = std::move(caller);
  command.request_id = request.request_id();
  command.digest = digest;
  command.body = std::move(*body);
  const auto policy = parts_.config.policy();
  auto past = past_targets(command.body, parts_.views.read(), *policy, parts_.clock.now());
  if (past.empty()) return post(std::move(command), bytes, "", said, std::move(responder));
  const UserId uid = command.who.uid;
  const auto full = parts_.accounting.add(
      uid, [=, this, shared = std::make_shared<UserCommand>(std::move(command))] {
        if (responder->abandoned()) return;
        const std::string note =
            answer_from_past(shared->body, past, [this](const api::Accounting& query) {
              return parts_.read_accounting(query, parts_.clock.now());
            });
        // The record of a repeated request may have expired meanwhile: then it would be a new one, which was not looked at.
        if (repeats && !is_remembered(shared->who, shared->request_id, shared->digest))
          return responder->send(refused(
              {ErrorCode::unavailable, "the request is not remembered any more"}, kRetryAfterMs));
        post(std::move(*shared), bytes, note, said, responder);
      });
  if (full) responder->send(refused(*full));
}

// `note`: what is added to a refusal; `said`: to an answer.
void Ingress::post(UserCommand command, std::size_t bytes, const std::string& note,
                   const std::string& said, ResponderPtr responder) {
  const auto answer = [responder, note, said](core::Reply reply) {
    if (!said.empty()) reply.text += (reply.text.empty() ? "" : "; ") + said;
    if (reply.failed && !said.empty()) reply.error.message += "; " + said;
    if (reply.failed && reply.error.code == ErrorCode::invalid_argument && !note.empty())
      reply.error.message += "; by accounting " + note;
    responder->send(answer_of(reply));
  };
  parts_.engine.post(PostedCommand{Command{std::move(command)}, answer, bytes,
                                   [responder] { return responder->abandoned(); }, true});
}

// Reads a file and looks up users, which may be slow; must not run on this thread.
void Ingress::reconfigure(const Principal& caller, const api::Request& request,
                          ResponderPtr responder) {
  const auto policy = parts_.config.policy();
  const bool dry_run = request.reconfigure().dry_run();
  const bool may =
      dry_run ? core::is_operator(*policy, caller.uid) : core::is_admin(*policy, caller.uid);
  if (!may) {
    responder->send(refused({ErrorCode::permission_denied,
                             "user " + caller.user + " may not reconfigure the cluster: only " +
                                 (dry_run ? "operators and " : "") + "administrators may"}));
    return;
  }
  if (!dry_run && !request.reconfigure().text().empty()) {
    responder->send(refused({ErrorCode::invalid_argument,
                             "another file than the controller's own can only be looked at: "
                             "copy it to " +
                                 parts_.config.read()->path + " and reconfigure then"}));
    return;
  }
  const auto reply = [responder](Result<api::Reconfigured> result) {
    responder->send(answer_with(std::move(result), &api::Response::mutable_reconfigured));
  };
  const auto full = parts_.accounting.add(caller.uid, [this, caller, request, dry_run, reply] {
    if (dry_run) return reply(parts_.reconfigurer.preview(request.reconfigure()));
    parts_.reconfigurer.apply(caller, request.request_id(), proto::request_digest(request), reply);
  });
  if (full) responder->send(refused(*full));
}

void Ingress::dump(const Principal& caller, const api::DumpView& request, ResponderPtr responder) {
  const auto config = parts_.config.read();
  if (!core::is_operator(config->policy, caller.uid))
    return responder->send(refused({ErrorCode::permission_denied,
                                    "only operators and administrators may read a whole view: it "
                                    "holds the jobs of all users"}));
  if (request.dump() != 0)
    return responder->send(answer_with(parts_.dumps.part(request.dump(), request.offset()),
                                       &api::Response::mutable_view_part));
  const View view = parts_.views.read();
  const auto full = parts_.accounting.add(caller.uid, [=, this, now = parts_.clock.now()] {
    if (responder->abandoned()) return;
    auto dump = dump_view(view, *config, now);
    if (!dump) return responder->send(refused(dump.error()));
    api::Response response;
    *response.mutable_view_part() = parts_.dumps.keep(*std::move(dump));
    responder->send(response);
  });
  if (full) responder->send(refused(*full));
}

void Ingress::roll_up(const Principal& caller, const api::Rollup& request, ResponderPtr responder) {
  if (request.what() != api::Rollup::SHOW &&
      !core::is_operator(*parts_.config.policy(), caller.uid))
    return responder->send(
        refused({ErrorCode::permission_denied,
                 "only operators and administrators may run accounting rollups"}));
  const auto full = parts_.accounting.add(caller.uid, [this, request, responder] {
    if (responder->abandoned()) return;
    responder->send(
        answer_with(parts_.rollup_worker.on_demand(request), &api::Response::mutable_rolled_up));
  });
  if (full) responder->send(refused(*full));
}

void Ingress::run_maintenance(const Principal& caller, const api::Request& request,
                              ResponderPtr responder) {
  const auto full = parts_.accounting.add(caller.uid, [this, caller, request, responder] {
    if (responder->abandoned()) return;
    AccountingMaintenance& maintenance = parts_.maintenance;
    const auto policy = parts_.config.policy();
    if (request.has_runaways())
      return responder->send(
          answer_with(maintenance.runaways(caller, *policy, request.runaways(), parts_.clock.now()),
                      &api::Response::mutable_runaway_jobs));
    if (request.has_list_node_events()) {
      auto events = maintenance.node_events(request.list_node_events());
      if (events)
        for (api::NodeEvents::Event& event : *events->mutable_events())
          event.set_user(event.has_uid() ? identity_.name_of(UserId(event.uid())) : "controller");
      return responder->send(answer_with(std::move(events), &api::Response::mutable_node_events));
    }
    if (request.has_archive())
      return responder->send(answer_with(maintenance.archive(caller, *policy, request.archive()),
                                         &api::Response::mutable_archived));
    responder->send(answer_with(maintenance.transactions(request.list_transactions()),
                                &api::Response::mutable_transactions));
  });
  if (full) responder->send(refused(*full));
}

void Ingress::rebuild_usage(const Principal& caller, const api::Request& request,
                            ResponderPtr responder) {
  const auto full = parts_.accounting.add(caller.uid, [this, caller, request, responder] {
    if (responder->abandoned()) return;
    parts_.usage.rebuild(
        caller, *parts_.config.policy(), request, [responder](Result<api::UsageRebuilt> result) {
          responder->send(answer_with(std::move(result), &api::Response::mutable_usage_rebuilt));
        });
  });
  if (full) responder->send(refused(*full));
}

void Ingress::handle(Principal caller, api::Request request, ResponderPtr responder) {
  if (is_mutating(request)) {
    mutate(std::move(caller), request, std::move(responder));
    return;
  }

  const auto config = parts_.config.read();
  const Policy& policy = config->policy;
  const View view = parts_.views.read();
  const Time now = parts_.clock.now();
  switch (request.body_case()) {
    case api::Request::kListJobs: {
      auto jobs = list_jobs(view, policy, request.list_jobs(), now);
      if (jobs && jobs->jobs().empty() && jobs->table().rows() == 0)
        if (Status known = check_users(request.list_jobs(), identity_); !known)
          jobs = fail(known.error());
      responder->send(answer_with(std::move(jobs), &api::Response::mutable_jobs));
      return;
    }
    case api::Request::kListNodes:
      responder->send(
          answer_with(list_nodes(view, parts_.nodes, policy, identity_, request.list_nodes(), now),
                      &api::Response::mutable_nodes));
      return;
    case api::Request::kListPartitions:
      responder->send(answer_with(list_partitions(view, request.list_partitions()),
                                  &api::Response::mutable_partitions));
      return;
    case api::Request::kListReservations:
      responder->send(
          answer_with(list_reservations(view, identity_, request.list_reservations(), now),
                      &api::Response::mutable_reservations));
      return;
    case api::Request::kListLicenses:
      responder->send(answer_with(list_licenses(view, policy, request.list_licenses()),
                                  &api::Response::mutable_licenses));
      return;
    case api::Request::kPing: {
      api::Response response;
      *response.mutable_pong() = pong(view, parts_.nodes, policy, parts_.database_state(), now);
      response.mutable_pong()->set_clock_ahead(parts_.clock.ahead().count());
      response.mutable_pong()->set_plugins_set_aside(set_aside_text(parts_.plugins.list(*config)));
      responder->send(response);
      return;
    }
    case api::Request::kListPlugins: {
      api::Response response;
      *response.mutable_plugins() = parts_.plugins.list(*config);
      responder->send(response);
      return;
    }
    case api::Request::kShowConfig: {
      api::Response response;
      if (core::is_operator(policy, caller.uid)) {
        response.mutable_config()->set_yaml(config::to_yaml(*config));
      } else {
        config::Config shown = *config;
        shown.notify = config::visible_to(std::move(shown.notify), caller.user);
        response.mutable_config()->set_yaml(config::to_yaml(shown));
      }
      responder->send(response);
      return;
    }
    case api::Request::kWaitJob: {
      const auto key = proto::from_api(request.wait_job().job());
      if (!key) {
        responder->send(refused(key.error()));
        return;
      }
      const auto wait = std::min(Seconds(request.wait_job().seconds()), kLongestWait);
      api::ListJobs one;
      *one.add_jobs() = request.wait_job().job();
      one.set_details(true);
      parts_.job_waiters.add(
          *key, request.wait_job().start(), now + wait, [this, one, responder](const View& later) {
            responder->send(
                answer_with(list_jobs(later, *parts_.config.policy(), one, parts_.clock.now()),
                            &api::Response::mutable_jobs));
          });
      return;
    }
    case api::Request::kAccounting: {
      const auto full = parts_.accounting.add(caller.uid, [this, request, responder] {
        if (responder->abandoned()) return;
        responder->send(
            answer_with(parts_.read_accounting(request.accounting(), parts_.clock.now()),
                        &api::Response::mutable_accounting));
      });
      if (full) responder->send(refused(*full));
      return;
    }
    case api::Request::kListAccountRecords:
    case api::Request::kListShares:
    case api::Request::kListPriorities: {
      // These scan all accounts or jobs: a user's queries queue behind their earlier ones.
      const auto full =
          parts_.accounting.add(caller.uid, [view, config, now, query = request, responder] {
            if (!responder->abandoned())
              responder->send(account_answer(view, config->policy, query, now));
          });
      if (full) responder->send(refused(*full));
      return;
    }
    case api::Request::kListUse: {
      const auto full = parts_.accounting.add(caller.uid, [=, this, query = request.list_use()] {
        if (responder->abandoned()) return;
        auto use = list_use(view, parts_.nodes, config->policy, query, now);
        responder->send(answer_with(std::move(use), &api::Response::mutable_running_use));
      });
      if (full) responder->send(refused(*full));
      return;
    }
    case api::Request::kReport: {
      const auto full =
          parts_.accounting.add(caller.uid, [this, view, query = request.report(), responder] {
            if (responder->abandoned()) return;
            auto reported = parts_.reports.read(query, parts_.clock.now());
            if (reported) put_parents(view, *reported);
            responder->send(answer_with(std::move(reported), &api::Response::mutable_reported));
          });
      if (full) responder->send(refused(*full));
      return;
    }
    case api::Request::kRunaways:
    case api::Request::kListTransactions:
    case api::Request::kListNodeEvents:
    case api::Request::kArchive: run_maintenance(caller, request, std::move(responder)); return;
    case api::Request::kRebuildUsage: rebuild_usage(caller, request, std::move(responder)); return;
    case api::Request::kRollup: roll_up(caller, request.rollup(), std::move(responder)); return;
    case api::Request::kTestSubmit: {
      test_submit(std::move(caller), request, std::move(responder));
      return;
    }
    case api::Request::kExplainJob: {
      const auto full = parts_.accounting.add(caller.uid, [=, query = request.explain_job()] {
        if (responder->abandoned()) return;
        responder->send(answer_with(explain(view, config->policy, query, now),
                                    &api::Response::mutable_explanation));
      });
      if (full) responder->send(refused(*full));
      return;
    }
    case api::Request::kDumpView: dump(caller, request.dump_view(), std::move(responder)); return;
    case api::Request::kReconfigure: reconfigure(caller, request, std::move(responder)); return;
    case api::Request::kStepAccess:
      step_access(caller, request.step_access(), std::move(responder));
      return;
    case api::Request::kJobScript:
      job_script(caller, request.job_script(), std::move(responder));
      return;
    case api::Request::kReadOutput:
      output(caller, request.read_output(), std::move(responder));
      return;
    case api::Request::kShutdown:
      if (!core::is_operator(policy, caller.uid)) {
        responder->send(refused({ErrorCode::permission_denied,
                                 "only operators and administrators may stop the controller"}));
        return;
      }
      spdlog::info("shutdown asked for by {} on {}", caller.user, caller.host);
      {
        api::Response response;
        response.mutable_acted()->set_text("the controller is shutting down");
        responder->send(response);
      }
      parts_.shut_down();
      return;
    default:
      responder->send(
          refused({ErrorCode::invalid_argument,
                   "this controller does not know that request; is the command newer than it?"}));
      return;
  }
}

}  // namespace ares::aresctld
