// The table of requests: who may make which one, and what answers it.
#include <algorithm>
#include <iterator>

#include "aresctld/ingress.h"
#include "core/job/decide/privileges.h"

namespace ares::aresctld {
namespace {

using Asker = Ingress::Asker;

template <Asker who>
Asker always(const api::Request&) {
  return who;
}
constexpr auto kUsers = &always<Asker::user>;
constexpr auto kOperators = &always<Asker::operator_>;

Asker of_reconfiguration(const api::Request& request) {
  return request.reconfigure().dry_run() ? Asker::operator_ : Asker::administrator;
}
Asker of_rollup(const api::Request& request) {
  return request.rollup().what() == api::Rollup::SHOW ? Asker::user : Asker::operator_;
}
Asker of_runaways(const api::Request& request) {
  return request.runaways().end().empty() ? Asker::user : Asker::operator_;
}
Asker of_archive(const api::Request& request) {
  return request.archive().what() == api::Archive::SHOW ? Asker::user : Asker::administrator;
}

}  // namespace

std::span<const Ingress::Kind> Ingress::kinds() {
  using R = api::Request;
  using I = Ingress;
  constexpr Runs kEngine = Runs::engine, kHere = Runs::here, kQueries = Runs::queries,
                 kDatabase = Runs::database;
  static const Kind kKinds[] = {
      {R::kSubmit, "submit jobs", kUsers, kEngine, nullptr},
      {R::kSubmitMany, "submit jobs", kUsers, kEngine, nullptr},
      {R::kCancel, "cancel jobs", kUsers, kEngine, nullptr},
      {R::kJobAction, "change jobs", kUsers, kEngine, nullptr},
      {R::kUpdateNode, "change nodes", kUsers, kEngine, nullptr},
      {R::kRebootNodes, "reboot nodes", kUsers, kEngine, nullptr},
      {R::kDeleteNodes, "delete nodes", kUsers, kEngine, nullptr},
      {R::kUpdatePartition, "change partitions", kUsers, kEngine, nullptr},
      {R::kCreateReservation, "create reservations", kUsers, kEngine, nullptr},
      {R::kUpdateReservation, "change reservations", kUsers, kEngine, nullptr},
      {R::kDeleteReservations, "delete reservations", kUsers, kEngine, nullptr},
      {R::kChangeAccounting, "change accounts", kUsers, kEngine, nullptr},
      {R::kResetUsage, "reset usage", kUsers, kEngine, nullptr},

      {R::kListJobs, "list jobs", kUsers, kHere, &I::jobs},
      {R::kListNodes, "list nodes", kUsers, kHere, &I::nodes},
      {R::kListPartitions, "list partitions", kUsers, kHere, &I::partitions},
      {R::kListReservations, "list reservations", kUsers, kHere, &I::reservations},
      {R::kListLicenses, "list licenses", kUsers, kHere, &I::licenses},
      {R::kListPlugins, "list plugins", kUsers, kHere, &I::plugins},
      {R::kPing, "ask for the controller's state", kUsers, kHere, &I::ping},
      {R::kShowConfig, "read the configuration", kUsers, kHere, &I::show_config},
      {R::kWaitJob, "wait for jobs", kUsers, kHere, &I::wait_job},
      {R::kWatch, "watch jobs", kUsers, kHere, &I::watch},
      {R::kNotifyJob, "tell jobs something", kUsers, kHere, &I::notify_job},
      {R::kTestSubmit, "test submissions", kUsers, kHere, &I::test_submit},
      {R::kSetLogLevel, "change what the controller logs", kOperators, kHere, &I::set_log_level},
      {R::kShutdown, "stop the controller", kOperators, kHere, &I::shutdown},

      // These scan all accounts or jobs, or plan: a user's queries queue behind their earlier ones.
      {R::kListAccountRecords, "list accounts", kUsers, kQueries, &I::account_records},
      {R::kListShares, "list shares", kUsers, kQueries, &I::shares},
      {R::kListPriorities, "list priorities", kUsers, kQueries, &I::priorities},
      {R::kListUse, "list what jobs use", kUsers, kQueries, &I::use},
      {R::kExplainJob, "ask why jobs wait", kUsers, kQueries, &I::explain_job},
      // It holds the jobs of all users.
      {R::kDumpView, "read a whole view", kOperators, kQueries, &I::dump},

      {R::kAccounting, "read accounting", kUsers, kDatabase, &I::accounting},
      {R::kReport, "read reports", kUsers, kDatabase, &I::report},
      {R::kRunaways, "set runaway jobs ended", of_runaways, kDatabase, &I::runaways},
      {R::kListTransactions, "list transactions", kUsers, kDatabase, &I::transactions},
      {R::kListNodeEvents, "list events of nodes", kUsers, kDatabase, &I::node_events},
      {R::kArchive, "move accounting to files and load it back", of_archive, kDatabase,
       &I::archive},
      {R::kRebuildUsage, "recompute usage", kOperators, kDatabase, &I::rebuild_usage},
      {R::kRollup, "run accounting rollups", of_rollup, kDatabase, &I::rollup},
      // Reads a file and looks up users.
      {R::kReconfigure, "reconfigure the cluster", of_reconfiguration, kDatabase, &I::reconfigure},
      // Of the caller's own jobs, or of any for operators: the functions look.
      {R::kJobScript, "read scripts", kUsers, kDatabase, &I::job_script},
      {R::kReadOutput, "read output of jobs", kUsers, kDatabase, &I::output},
      {R::kStepAccess, "run steps", kUsers, kDatabase, &I::step_access},
  };
  return kKinds;
}

const Ingress::Kind* Ingress::kind_of(api::Request::BodyCase body) {
  const auto all = kinds();
  const auto found =
      std::find_if(all.begin(), all.end(), [body](const Kind& kind) { return kind.body == body; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<Error> Ingress::refusal(const Kind& kind, const api::Request& request,
                                      const Policy& policy, const Principal& caller) {
  const Asker asker = kind.asker(request);
  if (asker == Asker::user || core::is_admin(policy, caller.uid) ||
      (asker == Asker::operator_ && core::is_operator(policy, caller.uid)))
    return std::nullopt;
  return Error{ErrorCode::permission_denied,
               "user " + caller.user + " may not " + kind.what + ": only " +
                   (asker == Asker::operator_ ? "operators and " : "") + "administrators may"};
}

}  // namespace ares::aresctld
