// Texts for the trace and for violations.
#include <type_traits>

#include "node/records.h"
#include "sim/observer.h"
#include "sim/stage.h"

namespace ares::sim {
namespace {

const char* word(AttemptPhase phase) {
  switch (phase) {
    case AttemptPhase::accepted: return "accepted";
    case AttemptPhase::ready: return "ready";
    case AttemptPhase::running: return "running";
    case AttemptPhase::done: return "done";
    case AttemptPhase::never_ran: return "never_ran";
    case AttemptPhase::lost: return "lost";
  }
  return "?";
}

std::string words(const AttemptReport& report) {
  return text_of(report.attempt) + "=" + word(report.phase);
}

std::string words(const std::vector<AttemptReport>& reports) {
  std::string text;
  for (const AttemptReport& report : reports) text += " " + words(report);
  return text;
}

constexpr const char* kEventNames[] = {"ControllerActivated",
                                       "ConfigApplied",
                                       "TresDefined",
                                       "Submitted",
                                       "TaskSplit",
                                       "Held",
                                       "Released",
                                       "Modified",
                                       "DependencyMet",
                                       "DependencyFailed",
                                       "Allocated",
                                       "NodeReady",
                                       "Started",
                                       "NodeRunning",
                                       "LaunchFailed",
                                       "EndingBegan",
                                       "BatchFinished",
                                       "NodeReleased",
                                       "NodeFenced",
                                       "ChargeCleared",
                                       "Ended",
                                       "Requeued",
                                       "Signalled",
                                       "Forgotten",
                                       "NodeRegistered",
                                       "NodeAdminSet",
                                       "NodeLost",
                                       "LateResult",
                                       "RequestRecorded",
                                       "RequestExpired",
                                       "Audited",
                                       "PlanPass",
                                       "PartitionModified",
                                       "TimeNoticed",
                                       "ReservationSet",
                                       "ReservationRemoved",
                                       "Earmarked",
                                       "Suspended",
                                       "Resumed",
                                       "AccountingChanged",
                                       "UsageCharged",
                                       "UsageSet",
                                       "AccrualBegan",
                                       "NodeGuardSet",
                                       "NodeRebootSet",
                                       "NodeJoined",
                                       "NodeLeft",
                                       "ExpediteBegan",
                                       "ExpediteExpired",
                                       "StepsReported",
                                       "CheckpointCommitted",
                                       "CheckpointRestored"};
static_assert(std::size(kEventNames) == std::variant_size_v<EventBody>);

}  // namespace

std::string name_of(Mutant mutant) {
  switch (mutant) {
    case Mutant::none: return "none";
    case Mutant::reply_before_commit: return "reply_before_commit";
    case Mutant::forgotten_fsync: return "forgotten_fsync";
    case Mutant::missing_fence: return "missing_fence";
    case Mutant::lost_outbox_entry: return "lost_outbox_entry";
    case Mutant::lease_from_receipt: return "lease_from_receipt";
    case Mutant::early_finish: return "early_finish";
    case Mutant::idle_acknowledgement: return "idle_acknowledgement";
    case Mutant::lost_launch: return "lost_launch";
  }
  return "?";
}

std::string text_of(const AttemptKey& key) {
  return "attempt " + node::directory_name(key);
}

std::string text_of(const ToNodeBody& body) {
  struct Text {
    std::string operator()(const Prepare& m) { return "Prepare " + text_of(m.launch.attempt); }
    std::string operator()(const Go& m) { return "Go " + text_of(m.attempt); }
    std::string operator()(const Kill& m) { return "Kill " + text_of(m.attempt); }
    std::string operator()(const Signal& m) { return "Signal " + text_of(m.attempt); }
    std::string operator()(const SetLimit& m) { return "SetLimit " + text_of(m.attempt); }
    std::string operator()(const SetSuspended& m) {
      return (m.suspended ? "Suspend " : "Resume ") + text_of(m.attempt);
    }
    std::string operator()(const Forget& m) { return "Forget " + text_of(m.attempt); }
    std::string operator()(const Welcome& m) { return "Welcome " + std::to_string(m.incarnation); }
    std::string operator()(const HeartbeatAck& m) {
      return "HeartbeatAck " + std::to_string(m.sequence);
    }
    std::string operator()(const Refused& m) { return "Refused: " + m.why; }
    std::string operator()(const SignalStep& m) {
      return "SignalStep " + text_of(m.attempt) + " " + std::to_string(m.step) + " " +
             std::to_string(m.signal);
    }
    std::string operator()(const CheckpointKnown& m) {
      return "CheckpointKnown " + text_of(m.attempt) + " " + std::to_string(m.sequence);
    }
    std::string operator()(const Reboot& m) { return "Reboot " + std::to_string(m.incarnation); }
  };
  return std::visit(Text{}, body);
}

std::string text_of(const FromNodeBody& body) {
  struct Text {
    std::string operator()(const Register& m) {
      return "Register " + std::to_string(m.incarnation) + words(m.attempts);
    }
    std::string operator()(const Heartbeat& m) {
      return "Heartbeat " + std::to_string(m.sequence) + words(m.attempts);
    }
    std::string operator()(const Progress& m) { return "Progress " + words(m.report); }
    std::string operator()(const LaunchRefused& m) {
      return "LaunchRefused " + text_of(m.attempt) + ": " + m.cause;
    }
  };
  return std::visit(Text{}, body);
}

std::string Observer::describe(const Event& event) const {
  std::string text = kEventNames[event.body.index()];
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (requires { e.attempt.job; })
          text += " " + text_of(e.attempt);
        else if constexpr (requires { e.key.job.value(); })
          text += " job " + node::directory_name({e.key, AttemptNo(0)});
        if constexpr (requires { e.node.value(); })
          text += " node " + std::to_string(e.node.value());
        if constexpr (requires { e.id.value(); }) text += " node " + std::to_string(e.id.value());
        if constexpr (std::is_same_v<E, Allocated>) {
          text += " attempt " + std::to_string(e.attempt.value()) + " on";
          for (const NodeShare& share : e.nodes) text += " " + std::to_string(share.node.value());
        }
        if constexpr (std::is_same_v<E, Ended>) text += " " + std::string(to_string(e.state));
        if constexpr (std::is_same_v<E, EndingBegan>)
          text +=
              " " + std::string(to_string(e.ending.state)) + (e.ending.requeue ? " requeue" : "");
        if constexpr (std::is_same_v<E, LaunchFailed>) text += ": " + e.cause;
        if constexpr (std::is_same_v<E, RequestRecorded>) text += " " + e.request.key.id;
      },
      event.body);
  return text;
}

namespace {

template <class Map, class Key>
void compare(const char* what, const Map& a, const Map& b, const Key& name, std::string& out) {
  if (a == b) return;
  out += std::string(what) + ":";
  a.for_each([&](const auto& key, const auto& value) {
    const auto* other = b.find(key);
    if (!other || !(*other == value)) out += " " + name(key) + (other ? " differs" : " only left");
  });
  b.for_each([&](const auto& key, const auto&) {
    if (!a.find(key)) out += " " + name(key) + " only right";
  });
  out += "; ";
}

}  // namespace

std::string difference(const ClusterState& a, const ClusterState& b) {
  std::string out;
  const auto job = [](const JobKey& k) { return node::directory_name({k, AttemptNo(0)}); };
  const auto any = [](const auto&) { return std::string("entry"); };
  compare("jobs", a.jobs, b.jobs, job, out);
  compare("pending", a.pending, b.pending, job, out);
  compare("dependents", a.dependents, b.dependents, any, out);
  compare("timers", a.timers, b.timers, any, out);
  compare("request_ages", a.request_ages, b.request_ages, any, out);
  compare("request_loads", a.request_loads, b.request_loads, any, out);
  compare("gangs", a.gangs, b.gangs, any, out);
  compare(
      "accounting", a.accounting, b.accounting,
      [](const RecordKey& k) { return ares::describe(k); }, out);
  compare("usage", a.usage, b.usage, any, out);
  compare("nodes", a.nodes, b.nodes, any, out);
  compare(
      "node_ids", a.node_ids, b.node_ids, [](const std::string& s) { return s; }, out);
  compare(
      "partitions", a.partitions, b.partitions, [](const std::string& s) { return s; }, out);
  compare(
      "tres", a.tres, b.tres, [](const std::string& s) { return s; }, out);
  compare(
      "requests", a.requests, b.requests, [](const RequestKey& k) { return k.id; }, out);
  const auto number = [&](const char* what, auto x, auto y) {
    if (x != y)
      out += std::string(what) + " " + std::to_string(x) + " and " + std::to_string(y) + "; ";
  };
  number("lsn", a.lsn.value(), b.lsn.value());
  number("epoch", a.epoch.value(), b.epoch.value());
  number("now", a.now.time_since_epoch().count(), b.now.time_since_epoch().count());
  number("activated_at", a.activated_at.time_since_epoch().count(),
         b.activated_at.time_since_epoch().count());
  number("next_job_id", a.next_job_id.value(), b.next_job_id.value());
  number("next_node_id", a.next_node_id.value(), b.next_node_id.value());
  number("config_hash", a.config_hash, b.config_hash);
  number("cluster", a.cluster.value(), b.cluster.value());
  return out;
}

}  // namespace ares::sim
