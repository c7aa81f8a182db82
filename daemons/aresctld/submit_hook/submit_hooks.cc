#include "aresctld/submit_hook/submit_hooks.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include "aresctld/query/queries.h"
#include "base/interval_set.h"
#include "cli/output/text.h"
#include "core/accounts/account_directory.h"
#include "submit/fields/job_values.h"

namespace ares::aresctld {
namespace {

using submit::FieldValue;
using submit::HookAnswer;
using submit::HookCall;

constexpr std::size_t kMostIdle = 4;
constexpr std::chrono::seconds kLongestRequest{20};
constexpr int kMostChanged = 1'000;                               // jobs of one change
constexpr std::size_t kMostEnvironments = std::size_t{64} << 20;  // bytes of one request

// How long a request may go on asking.
class RequestDeadline {
 public:
  explicit RequestDeadline(const std::function<bool()>& is_abandoned)
      : is_abandoned_(is_abandoned) {}

  // Before each further call.
  Status check() const {
    if (std::chrono::steady_clock::now() >= until_)
      return fail(ErrorCode::resource_exhausted,
                  "the submit hook of this site took longer than " +
                      std::to_string(kLongestRequest.count()) +
                      " s for the jobs of this request: name fewer in one request");
    if (is_abandoned_()) return fail(ErrorCode::unavailable, "its caller has gone");
    return {};
  }

 private:
  const std::function<bool()>& is_abandoned_;
  const std::chrono::steady_clock::time_point until_ =
      std::chrono::steady_clock::now() + kLongestRequest;
};

// The bounds that a list of numbers of nodes has, which count where both are given.
void settle_node_counts(api::JobSpec& spec) {
  if (spec.node_counts().empty()) return;
  const auto counts =
      parse_interval_set(spec.node_counts(), std::numeric_limits<std::uint32_t>::max());
  if (!counts || counts->empty()) return;  // refused later
  spec.set_min_nodes(counts->front());
  spec.set_max_nodes(counts->back());
}

tl::unexpected<Error> failed(const std::string& problem) {
  return fail(ErrorCode::failed_precondition,
              "the submit hook of this site failed: " + problem +
                  "; nothing was done: tell the administrators of the cluster");
}

void write_log(const std::string& user, const HookAnswer& answer) {
  for (const submit::LogLine& line : answer.log) {
    const auto level = line.level == "error"  ? spdlog::level::err
                       : line.level == "info" ? spdlog::level::info
                                              : spdlog::level::debug;
    spdlog::log(level, "submit hook, user {}: {}", user, line.text);
  }
}

std::vector<submit::FieldValues> partitions_of(const View& view) {
  std::vector<submit::FieldValues> all;
  if (const auto listed = list_partitions(view, {}))
    for (const api::Partition& partition : listed->partitions())
      all.push_back(submit::values_of(partition));
  return all;
}

// Those that the engine fills in are unknown to a submission: its user, and the account that the user has by default.
void add_caller(submit::FieldValues& job, const Principal& caller, const View& view) {
  job["user_id"] = static_cast<double>(caller.uid.value());
  job["group_id"] = static_cast<double>(caller.gid.value());
  job["user_name"] = caller.user;
  const User* user = core::find_user(view.state->accounting, caller.user);
  job["default_account"] =
      user && !user->default_account.empty() ? FieldValue(user->default_account) : FieldValue();
}

submit::FieldValues record_of(const api::Job& job) {
  submit::FieldValues values = submit::values_of(job.spec());
  values["job_id"] = static_cast<double>(job.key().job());
  values["array_task_id"] =
      job.key().has_task() ? FieldValue(static_cast<double>(job.key().task())) : FieldValue();
  values["job_state"] = job.state();
  values["user_id"] = static_cast<double>(job.uid());
  values["user_name"] = job.user();
  return values;
}

bool is_changed(const HookAnswer& answer) {
  return !answer.changes.empty() || !answer.environment.empty();
}

}  // namespace

bool SubmitHooks::concerns(const api::Request& request) {
  switch (request.body_case()) {
    case api::Request::kSubmit:
    case api::Request::kSubmitMany:
    case api::Request::kTestSubmit: return true;
    case api::Request::kJobAction: return request.job_action().kind() == api::JobAction::UPDATE;
    default: return false;
  }
}

Result<HookAnswer> SubmitHooks::call(const HookCall& call) {
  for (bool again = false;; again = true) {
    std::optional<submit::HookProcess> process;
    if (const Lock lock(mutex_); !again && !idle_.empty()) {
      process.emplace(std::move(idle_.back()));
      idle_.pop_back();
    }
    const bool is_old = process.has_value();
    if (!process) {
      auto started = submit::HookProcess::start(program_);
      if (!started) return fail(started.error());
      process.emplace(std::move(*started));
    }
    auto answer = process->answer(call);
    if (answer) {
      const Lock lock(mutex_);
      if (idle_.size() < kMostIdle) idle_.push_back(std::move(*process));
      return answer;
    }
    // One that was kept may have ended since, for reasons of its own.
    if (!is_old || answer.error().code != ErrorCode::unavailable) return answer;
  }
}

Result<HookAnswer> SubmitHooks::ask(const HookCall& call) {
  auto answer = this->call(call);
  if (!answer) return failed(answer.error().message);
  const auto* name = std::get_if<std::string>(&call.job.at("user_name"));
  write_log(name ? *name : "?", *answer);
  const std::string said = cli::join(answer->messages, "; ");
  switch (answer->kind) {
    case HookAnswer::Kind::accepted: return answer;
    case HookAnswer::Kind::refused:
      return fail(ErrorCode::permission_denied,
                  said.empty() ? "the rules of this site do not permit this" : said);
    case HookAnswer::Kind::failed: break;
  }
  spdlog::error("submit hook {}: {}", call.file, answer->problem);
  return failed(answer->problem + (said.empty() ? "" : "; it said: " + said));
}

Result<std::string> SubmitHooks::submit_one(HookCall call, const Job& job) {
  const submit::FieldValues caller = std::move(call.job);
  settle_node_counts(*job.spec);
  call.job = submit::values_of(*job.spec);
  for (const auto& [name, value] : caller) call.job[name] = value;
  call.job["script"] = *job.script;
  call.environment = submit::variables_of(*job.environment);
  auto answer = ask(call);
  if (!answer) return fail(answer.error());
  if (const Status good = submit::apply(*job.spec, answer->changes); !good)
    return failed(good.error().message);
  if (!answer->environment.empty()) {
    auto changed = submit::changed_environment(*job.environment, answer->environment);
    if (!changed) return failed(changed.error().message);
    *job.environment = std::move(*changed);
  }
  return cli::join(answer->messages, "; ");
}

Result<std::string> SubmitHooks::submit_many(const HookCall& call, api::SubmitMany& many,
                                             const World& world) {
  const RequestDeadline deadline(world.is_abandoned);
  std::string said;
  std::string last, last_changed;               // neighbours are often equal
  std::map<std::string, std::uint32_t> places;  // of environments
  for (int i = 0; i < many.environments_size(); ++i)
    places.emplace(many.environments(i), static_cast<std::uint32_t>(i));
  std::size_t bytes = 0;  // of those that were added
  for (int i = 0; i < many.items_size(); ++i) {
    api::SubmitMany::Item& item = *many.mutable_items(i);
    // What a wrong number means is checked later.
    if (item.script() >= static_cast<std::uint32_t>(many.scripts_size()) ||
        item.environment() >= static_cast<std::uint32_t>(many.environments_size()))
      continue;
    std::string before = item.SerializeAsString();
    if (i > 0 && before == last) {
      item.ParseFromString(last_changed);
      continue;
    }
    if (Status good = deadline.check(); !good) return fail(good.error());
    std::string environment = many.environments(static_cast<int>(item.environment()));
    const auto done = submit_one(
        call, {item.mutable_spec(), &many.scripts(static_cast<int>(item.script())), &environment});
    if (!done)
      return fail(done.error().code, "job " + std::to_string(i + 1) + " of " +
                                         std::to_string(many.items_size()) + ": " +
                                         done.error().message);
    if (!done->empty()) said = *done;
    const auto [place, is_new] =
        places.emplace(environment, static_cast<std::uint32_t>(many.environments_size()));
    item.set_environment(place->second);
    if (is_new) {
      bytes += environment.size();
      if (bytes > kMostEnvironments)
        return fail(ErrorCode::resource_exhausted,
                    "the submit hook of this site gives the jobs of this request environments of "
                    "too many bytes: submit fewer in one request");
      *many.add_environments() = std::move(environment);
    }
    last = std::move(before);
    last_changed = item.SerializeAsString();
  }
  return said;
}

namespace {

// All jobs and tasks that the selector names. not_found: one of them; then none is changed, also not those that exist.
Result<std::vector<api::Job>> jobs_named(const api::JobSelector& selector, const View& view,
                                         const Policy& policy, Time now) {
  if (selector.jobs().empty())
    return fail(ErrorCode::permission_denied,
                "name the jobs that are to be changed: the submit hook of this site looks at each");
  api::ListJobs listing;
  *listing.mutable_jobs() = selector.jobs();
  listing.set_details(true);
  std::vector<api::Job> all;
  for (;;) {
    const auto page = list_jobs(view, policy, listing, now);
    if (!page) return fail(page.error());
    all.insert(all.end(), page->jobs().begin(), page->jobs().end());
    if (all.size() > static_cast<std::size_t>(kMostChanged))
      return fail(ErrorCode::resource_exhausted,
                  "more than " + std::to_string(kMostChanged) +
                      " jobs and tasks in one change: name fewer, the submit hook of this site "
                      "looks at each");
    if (!page->has_next()) break;
    *listing.mutable_after() = page->next();
  }
  if (all.empty()) return fail(ErrorCode::not_found, "none of these jobs is known any more");
  return all;
}

}  // namespace

Result<std::string> SubmitHooks::modify(HookCall call, api::JobAction& action, const World& world) {
  const auto jobs = jobs_named(action.jobs(), world.view, world.policy, world.now);
  if (!jobs) return fail(jobs.error());
  const RequestDeadline deadline(world.is_abandoned);
  const submit::FieldValues caller = std::move(call.job);
  std::string said;
  for (const api::Job& job : *jobs) {
    if (Status good = deadline.check(); !good) return fail(good.error());
    api::JobAction of_this = action;
    // A limit that is changed by some time is another one for each job.
    if (action.has_time_limit_change() && job.has_time_limit())
      of_this.set_time_limit(
          std::max<std::int64_t>(job.time_limit() + action.time_limit_change(), 1));
    call.job = submit::values_of(of_this);
    for (const auto& [name, value] : caller) call.job[name] = value;
    call.record = record_of(job);
    auto answer = ask(call);
    if (!answer) return fail(answer.error());
    if (!answer->messages.empty()) said = cli::join(answer->messages, "; ");
    if (!is_changed(*answer)) continue;
    if (jobs->size() > 1)
      return fail(ErrorCode::permission_denied,
                  "change one job at a time: the submit hook of this site wants to change more of "
                  "each");
    if (const Status good = submit::apply(action, answer->changes); !good)
      return failed(good.error().message);
  }
  return said;
}

Result<std::string> SubmitHooks::run(const Principal& caller, api::Request& request,
                                     const World& world) {
  HookCall call;
  call.file = world.hook.file;
  call.caller = caller.uid.value();
  call.time_limit_ms = static_cast<std::uint32_t>(world.hook.time_limit.count());
  call.memory_limit = static_cast<std::uint64_t>(world.hook.memory_limit.value());
  call.partitions = partitions_of(world.view);
  add_caller(call.job, caller, world.view);
  const bool is_change = request.has_job_action();
  call.function = is_change ? HookCall::Function::job_modify : HookCall::Function::job_submit;
  call.read_only = is_change ? submit::read_only_fields_of_changes() : submit::read_only_fields();
  for (const char* name : {"default_account", "script"}) call.read_only.emplace_back(name);
  switch (request.body_case()) {
    case api::Request::kJobAction:
      return modify(std::move(call), *request.mutable_job_action(), world);
    case api::Request::kSubmitMany: return submit_many(call, *request.mutable_submit_many(), world);
    default: break;
  }
  api::Submit& one = request.has_submit() ? *request.mutable_submit()
                                          : *request.mutable_test_submit()->mutable_submit();
  return submit_one(std::move(call),
                    {one.mutable_spec(), &one.script(), one.mutable_environment()});
}

}  // namespace ares::aresctld
