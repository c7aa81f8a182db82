#include "aresctld/ingress.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "aresctld/answers.h"
#include "aresctld/commands.h"
#include "aresctld/notify/check_recipients.h"
#include "aresctld/past_targets.h"
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
  const auto full = parts_.database.add(
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

void Ingress::handle(Principal caller, api::Request request, ResponderPtr responder) {
  const Kind* kind = kind_of(request.body_case());
  if (!kind) return responder->send(refused(unknown_request()));
  const auto config = parts_.config.read();
  if (const auto why = refusal(*kind, request, config->policy, caller))
    return responder->send(refused(*why));
  spdlog::debug("request to {} by {} on {}", kind->what, caller.user, caller.host);
  if (kind->where == Runs::engine) return mutate(std::move(caller), request, std::move(responder));
  const Call call{std::move(caller),    std::make_shared<const api::Request>(std::move(request)),
                  std::move(responder), config,
                  parts_.views.read(),  parts_.clock.now()};
  switch (kind->where) {
    case Runs::engine: break;
    case Runs::here: return (this->*kind->answer)(call);
    case Runs::queries: return queue(parts_.queries, call, kind->answer);
    case Runs::database: return queue(parts_.database, call, kind->answer);
  }
}

void Ingress::queue(QueryPool& pool, const Call& call, void (Ingress::*answer)(const Call&)) {
  const auto full = pool.add(call.caller.uid, [this, call, answer] {
    if (!call.responder->abandoned()) (this->*answer)(call);
  });
  if (full) call.responder->send(refused(*full));
}

}  // namespace ares::aresctld
