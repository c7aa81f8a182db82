#include "aresctld/commands.h"

#include <algorithm>
#include <utility>

#include "aresctld/account_commands.h"
#include "aresctld/answers.h"
#include "aresctld/reservation_commands.h"
#include "auth/blob_id.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "core/job/request_defaults.h"
#include "model/job/image_name.h"
#include "model/policy/request_limits.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

Result<JobSelector> to_selector(const api::JobSelector& from, Identity& identity) {
  if (static_cast<std::size_t>(from.jobs_size()) > kMaxNamedJobs)
    return fail(ErrorCode::invalid_argument,
                std::to_string(from.jobs_size()) + " jobs and tasks are named; at most " +
                    std::to_string(kMaxNamedJobs) +
                    " are allowed in one request: name whole arrays, or use a filter");
  JobSelector to;
  for (const auto& ref : from.jobs()) {
    auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    to.keys.push_back(*key);
  }
  if (from.has_uid()) to.user = UserId(from.uid());
  if (!from.user().empty()) {
    to.user = identity.uid_of(from.user());
    if (!to.user) return fail(ErrorCode::not_found, "no user is named " + quote(from.user()));
  }
  if (!from.state().empty()) {
    to.state = parse_job_state(from.state());
    if (!to.state)
      return fail(ErrorCode::invalid_argument, "unknown job state " + quote(from.state()) +
                                                   "; try PENDING, RUNNING or SUSPENDED");
  }
  to.name = from.name();
  to.partition = from.partition();
  to.account = from.account();
  to.qos = from.qos();
  to.wckey = from.wckey();
  to.node = from.node();
  to.everything = to.keys.empty();
  const bool filtered = to.user || to.state || !to.name.empty() || !to.partition.empty() ||
                        !to.account.empty() || !to.qos.empty() || !to.wckey.empty() ||
                        !to.node.empty();
  if (to.everything && !filtered)
    return fail(ErrorCode::invalid_argument, "name a job, or at least one filter");
  return to;
}

constexpr int kMostAtOnce = 10'000;  // maximum number of jobs in one request

Status check_script(const Policy& policy, const std::string& script) {
  if (script.empty()) return fail(ErrorCode::invalid_argument, "the batch script is empty");
  if (script.size() > policy.max_script_bytes)
    return fail(ErrorCode::invalid_argument,
                "the batch script has " + std::to_string(script.size()) +
                    " bytes; this site takes " + std::to_string(policy.max_script_bytes) +
                    " (policy.max_script_bytes)");
  return {};
}

Status check_environment(const Policy& policy, const std::string& environment) {
  if (environment.size() > policy.max_environment_bytes)
    return fail(ErrorCode::invalid_argument,
                "the environment has " + std::to_string(environment.size()) +
                    " bytes; this site takes " + std::to_string(policy.max_environment_bytes) +
                    " (policy.max_environment_bytes); try --export=NONE");
  return {};
}

Blob make_blob(const std::string& content) {
  return {auth::blob_id(content), std::make_shared<const std::string>(content)};
}

Result<JobSpec> to_spec(const Principal& caller, const Policy& policy, const api::JobSpec& from) {
  auto parsed = proto::from_api(from, policy.requeue_default);
  if (!parsed) return fail(parsed.error());
  JobSpec spec = std::move(*parsed);
  core::fill_in_defaults(spec);
  // The identity is that of the credential; the request's is ignored.
  spec.uid = caller.uid;
  spec.gid = caller.gid;
  spec.user = caller.user;
  return spec;
}

}  // namespace

Result<Submit> to_submission(const Principal& caller, const Policy& policy,
                             const api::Submit& from) {
  if (Status ok = check_script(policy, from.script()); !ok) return fail(ok.error());
  if (Status ok = check_environment(policy, from.environment()); !ok) return fail(ok.error());
  auto spec = to_spec(caller, policy, from.spec());
  if (!spec) return fail(spec.error());
  Submit submit;
  submit.blobs = {make_blob(from.script()), make_blob(from.environment())};
  spec->script = submit.blobs[0].id;
  spec->environment = submit.blobs[1].id;
  submit.spec = std::make_shared<const JobSpec>(std::move(*spec));
  return submit;
}

namespace {

Result<UserBody> to_submit_many(const Principal& caller, const Policy& policy,
                                const api::SubmitMany& from) {
  if (from.items().empty() || from.items_size() > kMostAtOnce)
    return fail(ErrorCode::invalid_argument, "one request submits 1 to " +
                                                 std::to_string(kMostAtOnce) + " jobs, not " +
                                                 std::to_string(from.items_size()));
  SubmitMany submit;
  for (const std::string& script : from.scripts()) {
    if (Status ok = check_script(policy, script); !ok) return fail(ok.error());
    submit.blobs.push_back(make_blob(script));
  }
  for (const std::string& environment : from.environments()) {
    if (Status ok = check_environment(policy, environment); !ok) return fail(ok.error());
    submit.blobs.push_back(make_blob(environment));
  }
  std::size_t ranges = 0;  // of all arrays and numbers of nodes
  std::string last;  // previous item, serialised: a loop over one script often sends identical ones
  for (int i = 0; i < from.items_size(); ++i) {
    const api::SubmitMany::Item& item = from.items(i);
    std::string bytes = item.SerializeAsString();
    if (i > 0 && bytes == last) {
      submit.specs.push_back(submit.specs.back());
      continue;
    }
    const auto refused = [&](const std::string& why) {
      return fail(ErrorCode::invalid_argument, "job " + std::to_string(i + 1) + " of " +
                                                   std::to_string(from.items_size()) + ": " + why);
    };
    if (item.script() >= static_cast<std::uint32_t>(from.scripts_size()) ||
        item.environment() >= static_cast<std::uint32_t>(from.environments_size()))
      return refused("names a script or an environment that the request does not carry");
    auto spec = to_spec(caller, policy, item.spec());
    if (!spec) return refused(spec.error().message);
    for (const auto* list : {&spec->array, &spec->node_counts})
      ranges += *list ? (*list)->intervals().size() : 0;
    if (ranges > kMaxRangesOfRequest)
      return refused("its arrays and those before it have " + std::to_string(ranges) +
                     " separate ranges of tasks; at most " + std::to_string(kMaxRangesOfRequest) +
                     " are allowed in one request: submit fewer jobs at once");
    spec->script = submit.blobs[item.script()].id;
    spec->environment =
        submit.blobs[static_cast<std::uint32_t>(from.scripts_size()) + item.environment()].id;
    submit.specs.push_back(std::make_shared<const JobSpec>(std::move(*spec)));
    last = std::move(bytes);
  }
  return submit;
}

Result<UserBody> to_update_job(const api::JobAction& from, JobSelector jobs) {
  UpdateJob update;
  update.jobs = std::move(jobs);
  if (from.has_priority()) update.priority = from.priority();
  if (from.has_time_limit_change()) {
    if (from.has_time_limit())
      return fail(ErrorCode::invalid_argument,
                  "a time limit and a change of it exclude each other");
    if (from.time_limit_change() == 0)
      return fail(ErrorCode::invalid_argument, "a change of the time limit by 0 changes nothing");
    update.set_time_limit = true;
    update.time_limit_change = Seconds(from.time_limit_change());
  }
  if (from.has_time_limit()) {
    if (from.time_limit() < 0)
      return fail(ErrorCode::invalid_argument, "a time limit cannot be negative");
    update.set_time_limit = true;
    if (from.time_limit() > 0) update.time_limit = Seconds(from.time_limit());
  }
  if (from.has_array_throttle()) update.array_throttle = from.array_throttle();
  if (from.fields().empty()) return update;
  auto values = proto::from_api(from.values());
  if (!values) return fail(values.error());
  update.fields.assign(from.fields().begin(), from.fields().end());
  update.values = std::make_shared<const JobSpec>(std::move(*values));
  return update;
}

Result<UserBody> to_job_action(const api::JobAction& from, Identity& identity) {
  auto jobs = to_selector(from.jobs(), identity);
  if (!jobs) return fail(jobs.error());
  switch (from.kind()) {
    case api::JobAction::HOLD: return HoldJobs{std::move(*jobs), false};
    case api::JobAction::USER_HOLD: return HoldJobs{std::move(*jobs), true};
    case api::JobAction::RELEASE: return ReleaseJobs{std::move(*jobs)};
    case api::JobAction::REQUEUE: return RequeueJobs{std::move(*jobs), false, from.incomplete()};
    case api::JobAction::REQUEUE_HOLD:
      return RequeueJobs{std::move(*jobs), true, from.incomplete(), from.special_exit()};
    case api::JobAction::SUSPEND: return SuspendJobs{std::move(*jobs)};
    case api::JobAction::RESUME: return ResumeJobs{std::move(*jobs)};
    case api::JobAction::UPDATE: return to_update_job(from, std::move(*jobs));
    default:
      return fail(ErrorCode::invalid_argument, "this controller does not know that action on jobs");
  }
}

Result<UserBody> to_update_node(const api::UpdateNode& from) {
  auto names = expand_hostlist(from.nodes());
  if (!names) return fail(names.error());
  UpdateNode update;
  update.names = std::move(*names);
  update.reason = from.reason();
  switch (from.kind()) {
    case api::UpdateNode::DRAIN: update.admin = AdminState::drain; break;
    case api::UpdateNode::RESUME: update.admin = AdminState::up; break;
    case api::UpdateNode::DOWN: update.admin = AdminState::down; break;
    case api::UpdateNode::UNDRAIN: update.drained_only = true; break;
    case api::UpdateNode::REASON: update.reason_only = true; break;
    case api::UpdateNode::FAIL: update.admin = AdminState::fail; break;
    default:
      return fail(ErrorCode::invalid_argument, "this controller does not know that node state");
  }
  return update;
}

Result<UserBody> to_reboot_nodes(const api::RebootNodes& from) {
  auto names = expand_hostlist(from.nodes());
  if (!names) return fail(names.error());
  RebootNodes reboot;
  reboot.names = std::move(*names);
  reboot.asap = from.asap();
  switch (from.after()) {
    case api::RebootNodes::AS_BEFORE: reboot.after = AfterReboot::as_before; break;
    case api::RebootNodes::RESUME: reboot.after = AfterReboot::up; break;
    case api::RebootNodes::DOWN: reboot.after = AfterReboot::down; break;
    default:
      return fail(ErrorCode::invalid_argument,
                  "this controller does not know that state after a reboot");
  }
  reboot.reason = from.reason();
  reboot.cancel = from.cancel();
  return reboot;
}

Result<UserBody> to_delete_nodes(const api::DeleteNodes& from) {
  auto names = expand_hostlist(from.nodes());
  if (!names) return fail(names.error());
  return DeleteNodes{std::move(*names)};
}

// Empty means unchanged: the field is not among those that change.
Status read_preempt_mode(const std::string& word, PreemptMode& out) {
  if (word.empty()) return {};
  const auto at = std::find(kPreemptModeNames.begin(), kPreemptModeNames.end(), word);
  if (at == kPreemptModeNames.end())
    return fail(ErrorCode::invalid_argument,
                quote(word) + " is no mode of preemption: off, requeue, cancel or suspend");
  out = static_cast<PreemptMode>(at - kPreemptModeNames.begin());
  return {};
}

Status read_strategy(const std::string& word, PlacementStrategy& out) {
  if (word.empty()) return {};
  std::string all;
  for (int i = 0; i <= static_cast<int>(kLastPlacementStrategy); ++i) {
    const auto strategy = static_cast<PlacementStrategy>(i);
    if (to_string(strategy) == word) {
      out = strategy;
      return {};
    }
    all += (all.empty() ? "" : ", ") + std::string(to_string(strategy));
  }
  return fail(ErrorCode::invalid_argument, quote(word) + " is none of " + all);
}

Result<UserBody> to_update_partition(const api::UpdatePartition& from) {
  const api::Partition& values = from.values();
  for (const std::int64_t limit : {values.max_time(), values.default_time()})
    if (limit < 0) return fail(ErrorCode::invalid_argument, "a time limit cannot be negative");
  if (values.default_memory_per_cpu() < 0)
    return fail(ErrorCode::invalid_argument, "a size cannot be negative");
  UpdatePartition update;
  update.names.assign(from.names().begin(), from.names().end());
  update.fields.assign(from.fields().begin(), from.fields().end());
  Partition& to = update.values;
  to.nodes.assign(values.members().begin(), values.members().end());
  to.is_default = values.is_default();
  to.up = values.up();
  to.open = !values.has_open() || values.open();
  to.tier = values.tier();
  to.priority = values.priority();
  if (values.has_max_time()) to.max_time = Seconds(values.max_time());
  if (values.has_default_time()) to.default_time = Seconds(values.default_time());
  if (values.has_max_nodes()) to.max_nodes = values.max_nodes();
  if (values.has_max_cpus_per_node()) to.max_cpus_per_node = values.max_cpus_per_node();
  to.min_nodes = values.min_nodes();
  to.default_memory_per_cpu = Bytes(values.default_memory_per_cpu());
  to.exclusive = values.exclusive();
  if (Status s = read_strategy(values.cpu_placement(), to.placement.cpu); !s)
    return fail(s.error());
  if (Status s = read_strategy(values.gpu_placement(), to.placement.gpu); !s)
    return fail(s.error());
  if (Status s = read_preempt_mode(values.preempt_mode(), to.preempt_mode); !s)
    return fail(s.error());
  to.qos = values.qos();
  if (!values.container_image().empty() && !is_image_name(values.container_image()))
    return fail(ErrorCode::invalid_argument,
                quote(values.container_image()) + " is not the name of a container image");
  to.container_image = values.container_image();
  return update;
}

}  // namespace

Result<UserBody> to_command(const Principal& caller, const Policy& policy,
                            const api::Request& request, Identity& identity) {
  switch (request.body_case()) {
    case api::Request::kSubmit: {
      auto submit = to_submission(caller, policy, request.submit());
      if (!submit) return fail(submit.error());
      return std::move(*submit);
    }
    case api::Request::kSubmitMany: return to_submit_many(caller, policy, request.submit_many());
    case api::Request::kCancel: {
      auto jobs = to_selector(request.cancel().jobs(), identity);
      if (!jobs) return fail(jobs.error());
      Cancel cancel;
      cancel.jobs = std::move(*jobs);
      cancel.signal = request.cancel().signal();
      cancel.batch_only = request.cancel().batch_only();
      if (request.cancel().has_step()) cancel.step = request.cancel().step();
      return cancel;
    }
    case api::Request::kJobAction: return to_job_action(request.job_action(), identity);
    case api::Request::kUpdateNode: return to_update_node(request.update_node());
    case api::Request::kRebootNodes: return to_reboot_nodes(request.reboot_nodes());
    case api::Request::kDeleteNodes: return to_delete_nodes(request.delete_nodes());
    case api::Request::kUpdatePartition: return to_update_partition(request.update_partition());
    case api::Request::kCreateReservation:
      return to_create_reservation(request.create_reservation(), identity);
    case api::Request::kUpdateReservation:
      return to_update_reservation(request.update_reservation(), identity);
    case api::Request::kDeleteReservations:
      return to_delete_reservations(request.delete_reservations());
    case api::Request::kChangeAccounting: return to_change_accounting(request.change_accounting());
    case api::Request::kResetUsage: return to_reset_usage(request.reset_usage());
    default: return fail(unknown_request());
  }
}

}  // namespace ares::aresctld
