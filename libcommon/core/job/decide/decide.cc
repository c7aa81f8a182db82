// The common part of all user commands: repeated requests, the audit and the record of the request.
#include "core/job/decide/decide.h"

#include <algorithm>

#include "base/duration.h"
#include "base/printable.h"
#include "core/job/decide/decision_context.h"

namespace ares::core {
namespace {

constexpr std::size_t kMaxRequestId = 128;

struct Body {
  const DecisionContext& q;
  const Principal& who;

  Decision operator()(const Submit& c) const { return decide_submit(q, who, c); }
  Decision operator()(const SubmitMany& c) const { return decide_submit(q, who, c); }
  Decision operator()(const UpdateNode& c) const { return decide_admin(q, who, c); }
  Decision operator()(const RebootNodes& c) const { return decide_admin(q, who, c); }
  Decision operator()(const DeleteNodes& c) const { return decide_admin(q, who, c); }
  Decision operator()(const UpdatePartition& c) const { return decide_admin(q, who, c); }
  Decision operator()(const Reconfigure& c) const { return decide_admin(q, who, c); }
  Decision operator()(const CreateReservation& c) const { return decide_admin(q, who, c); }
  Decision operator()(const UpdateReservation& c) const { return decide_admin(q, who, c); }
  Decision operator()(const DeleteReservations& c) const { return decide_admin(q, who, c); }
  Decision operator()(const ChangeAccounting& c) const { return decide_accounting(q, who, c); }
  Decision operator()(const ResetUsage& c) const { return decide_accounting(q, who, c); }
  Decision operator()(const CorrectUsage& c) const { return decide_accounting(q, who, c); }
  template <class C>
  Decision operator()(const C& c) const {
    return decide_jobs(q, who, c);
  }
};

struct Action {
  std::string_view operator()(const Submit&) const { return "submit"; }
  std::string_view operator()(const SubmitMany&) const { return "submit"; }
  std::string_view operator()(const Cancel& c) const { return c.signal == 0 ? "cancel" : "signal"; }
  std::string_view operator()(const HoldJobs&) const { return "hold"; }
  std::string_view operator()(const ReleaseJobs&) const { return "release"; }
  std::string_view operator()(const RequeueJobs& c) const {
    return c.hold ? "requeuehold" : "requeue";
  }
  std::string_view operator()(const SuspendJobs&) const { return "suspend"; }
  std::string_view operator()(const ResumeJobs&) const { return "resume"; }
  std::string_view operator()(const UpdateJob&) const { return "update job"; }
  std::string_view operator()(const UpdateNode& c) const {
    if (c.reason_only) return "change reason of node";
    switch (c.admin) {
      case AdminState::up: return "resume node";
      case AdminState::drain: return "drain node";
      case AdminState::down: return "down node";
      case AdminState::fail: return "fail node";
    }
    return "update node";
  }
  std::string_view operator()(const RebootNodes& c) const {
    return c.cancel ? "cancel reboot of node" : "reboot node";
  }
  std::string_view operator()(const DeleteNodes&) const { return "delete node"; }
  std::string_view operator()(const UpdatePartition&) const { return "update partition"; }
  std::string_view operator()(const Reconfigure&) const { return "reconfigure"; }
  std::string_view operator()(const CreateReservation&) const { return "create reservation"; }
  std::string_view operator()(const UpdateReservation&) const { return "update reservation"; }
  std::string_view operator()(const DeleteReservations&) const { return "delete reservation"; }
  std::string_view operator()(const ChangeAccounting&) const { return "change accounting"; }
  std::string_view operator()(const ResetUsage&) const { return "reset usage"; }
  std::string_view operator()(const CorrectUsage&) const { return "rebuild usage"; }
};

template <class Items, class Text>
std::string listed(const Items& items, Text&& text) {
  constexpr std::size_t kShown = 20;
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < kShown; ++i) {
    if (i > 0) out += ',';
    out += text(items[i]);
  }
  if (items.size() > kShown) out += " and " + std::to_string(items.size() - kShown) + " more";
  return out;
}

struct Subject {
  const Decision& decision;
  std::string operator()(const UpdateNode& c) const {
    return "node " + listed(c.names, [](const std::string& name) { return name; });
  }
  std::string operator()(const RebootNodes& c) const {
    return "node " + listed(c.names, [](const std::string& name) { return name; });
  }
  std::string operator()(const DeleteNodes& c) const {
    return "node " + listed(c.names, [](const std::string& name) { return name; });
  }
  std::string operator()(const UpdatePartition& c) const {
    return "partition " + listed(c.names, [](const std::string& name) { return name; });
  }
  std::string operator()(const Reconfigure&) const { return "cluster"; }
  std::string operator()(const CreateReservation& c) const {
    for (const EventBody& event : decision.events)  // with the name that it has been given
      if (const auto* made = std::get_if<ReservationSet>(&event))
        return "reservation " + made->reservation.name;
    return "reservation " + c.values.name;
  }
  std::string operator()(const UpdateReservation& c) const { return "reservation " + c.name; }
  std::string operator()(const ChangeAccounting& c) const { return subject_of(c); }
  std::string operator()(const ResetUsage& c) const { return subject_of(c); }
  std::string operator()(const CorrectUsage& c) const { return subject_of(c); }
  std::string operator()(const DeleteReservations& c) const {
    return "reservation " + listed(c.names, [](const std::string& name) { return name; });
  }
  std::string operator()(const Submit& c) const {
    return decision.jobs.empty() ? "name " + c.spec->name : jobs(decision.jobs);
  }
  std::string operator()(const SubmitMany& c) const {
    return decision.jobs.empty() ? std::to_string(c.specs.size()) + " jobs" : jobs(decision.jobs);
  }
  template <class C>
  std::string operator()(const C& c) const {
    return jobs(decision.jobs.empty() ? c.jobs.keys : decision.jobs);
  }
  static std::string jobs(const std::vector<JobKey>& keys) {
    return "job " + listed(keys, job_text);
  }
};

// Whether the user has so many remembered requests that another one of this kind is refused.
bool remembered_enough(const DecisionContext& q, const UserCommand& command) {
  const RequestLoad* load = q.state.request_loads.find(command.who.uid);
  if (!load || is_operator(q.policy, command.who.uid)) return false;
  const bool submits = std::holds_alternative<Submit>(command.body) ||
                       std::holds_alternative<SubmitMany>(command.body);
  const auto above = [&](std::uint64_t had, std::uint64_t most) {
    return had >= (submits ? most : most + most / 10);
  };
  return above(load->count, kMostRemembered.count) || above(load->bytes, kMostRemembered.bytes);
}

Decision too_many_remembered(const DecisionContext& q, const Principal& who) {
  const RequestLoad* load = q.state.request_loads.find(who.uid);
  return refuse(
      ErrorCode::resource_exhausted,
      "user " + who.user + " has made " + std::to_string(load ? load->count : 0) +
          " requests that are still remembered, which is as many as may be; each is forgotten " +
          format_duration(q.policy.request_retention) +
          " after it was made. Ask for less at a time, and submit many jobs as one array or with "
          "asub --from, of which thousands count as one request");
}

Decision repeat_answer(const Request& first) {
  Decision d;
  d.repeated = true;
  d.failed = first.failed;
  d.error = first.error;
  d.jobs = first.jobs;
  d.text = first.text;
  return d;
}

Decision decide_user(const DecisionContext& q, const UserCommand& command) {
  const RequestKey key{command.who.uid, command.request_id};
  if (key.id.empty() || key.id.size() > kMaxRequestId) {
    return refuse(ErrorCode::invalid_argument, "a request needs an id of 1 to " +
                                                   std::to_string(kMaxRequestId) +
                                                   " characters, new for every command");
  }
  if (const Request* first = q.state.requests.find(key)) {
    if (first->digest == command.digest) return repeat_answer(*first);
    const std::string of =
        first->jobs.empty() ? "another command" : "job " + listed(first->jobs, job_text);
    return refuse(ErrorCode::already_exists, "request id " + printable(key.id) +
                                                 " was used before for " + of +
                                                 " with other content; use a new id");
  }

  if (remembered_enough(q, command)) return too_many_remembered(q, command.who);

  Decision d = std::visit(Body{q, command.who}, command.body);
  const bool acted = !d.events.empty();
  const bool denied = d.failed && d.error.code == ErrorCode::permission_denied;
  if (d.failed && !acted && !denied) return d;

  AuditEntry audit;
  audit.at = q.now;
  audit.uid = command.who.uid;
  audit.user = command.who.user;
  audit.host = command.who.host;
  audit.action = std::visit(Action{}, command.body);
  audit.subject = printable(std::visit(Subject{d}, command.body));
  audit.outcome = d.failed ? printable(d.error.message) : "ok";
  d.events.emplace_back(Audited{std::move(audit)});
  if (d.failed && !acted) return d;
  // If nothing changed, the keys are dropped: remembering them would only cost memory.
  if (!acted) d.jobs.clear();

  Request request;
  request.key = key;
  request.digest = command.digest;
  request.at = q.now;
  request.expires = q.now + q.policy.request_retention;
  request.failed = d.failed;
  request.error = d.error;
  request.jobs = d.jobs;
  request.text = d.text;
  d.events.emplace_back(RequestRecorded{std::move(request)});
  return d;
}

struct Decide {
  const DecisionContext& q;
  Decision operator()(const UserCommand& c) const { return decide_user(q, c); }
  Decision operator()(const NodeCommand& c) const { return decide_node(q, c); }
  Decision operator()(const NodeSilent& c) const { return decide_time(q, c); }
  Decision operator()(const TakePlan& c) const { return decide_plan(q, c); }
  Decision operator()(const ApplyConfig& c) const { return decide_config(q, c, q.policy); }
  Decision operator()(const Activate& c) const { return decide_config(q, c); }
  Decision operator()(const Tick& c) const { return decide_time(q, c); }
  Decision operator()(const NextOccurrence& c) const { return decide_time(q, c); }
  Decision operator()(const UsagePeriod& c) const { return decide_time(q, c); }
};

}  // namespace

Decision decide(const ClusterState& state, const Policy& policy, const Command& command, Time now,
                UsageTotals* sums) {
  const DecisionContext q{state, policy, now, sums};
  return std::visit(Decide{q}, command.body);
}

Decision refuse(ErrorCode code, std::string message) {
  Decision d;
  d.failed = true;
  d.error = Error{code, std::move(message)};
  return d;
}

bool is_admin(const Policy& policy, UserId uid) {
  return uid == UserId{0} ||
         std::find(policy.admins.begin(), policy.admins.end(), uid) != policy.admins.end();
}

bool is_operator(const Policy& policy, UserId uid) {
  return is_admin(policy, uid) ||
         std::find(policy.operators.begin(), policy.operators.end(), uid) != policy.operators.end();
}

}  // namespace ares::core
