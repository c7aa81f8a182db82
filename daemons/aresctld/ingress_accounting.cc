// What clients ask of accounting. All of these wait for the database.
#include <utility>

#include "aresctld/account_commands.h"
#include "aresctld/ingress.h"

namespace ares::aresctld {

void Ingress::accounting(const Call& call) {
  call.send(parts_.read_accounting(call.request->accounting(), parts_.clock.now()),
            &api::Response::mutable_accounting);
}

void Ingress::report(const Call& call) {
  auto reported = parts_.reports.read(call.request->report(), parts_.clock.now());
  if (reported) put_parents(call.view, *reported);
  call.send(std::move(reported), &api::Response::mutable_reported);
}

void Ingress::runaways(const Call& call) {
  call.send(parts_.maintenance.runaways(call.caller, call.request->runaways(), parts_.clock.now()),
            &api::Response::mutable_runaway_jobs);
}

void Ingress::transactions(const Call& call) {
  call.send(parts_.maintenance.transactions(call.request->list_transactions()),
            &api::Response::mutable_transactions);
}

void Ingress::node_events(const Call& call) {
  auto events = parts_.maintenance.node_events(call.request->list_node_events());
  if (events)
    for (api::NodeEvents::Event& event : *events->mutable_events())
      event.set_user(event.has_uid() ? identity_.name_of(UserId(event.uid())) : "controller");
  call.send(std::move(events), &api::Response::mutable_node_events);
}

void Ingress::archive(const Call& call) {
  call.send(parts_.maintenance.archive(call.request->archive()), &api::Response::mutable_archived);
}

void Ingress::rebuild_usage(const Call& call) {
  parts_.usage.rebuild(
      call.caller, *parts_.config.policy(), *call.request,
      [responder = call.responder](Result<api::UsageRebuilt> result) {
        responder->send(answer_with(std::move(result), &api::Response::mutable_usage_rebuilt));
      });
}

void Ingress::rollup(const Call& call) {
  call.send(parts_.rollup_worker.on_demand(call.request->rollup()),
            &api::Response::mutable_rolled_up);
}

}  // namespace ares::aresctld
