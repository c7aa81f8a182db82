#include "adopt/adopt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "node/step_spec.h"
#include "os/fd.h"
#include "os/file.h"

namespace ares::adopt {
namespace {

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// Its processes are killed when the job ends.
bool ends_with_job(const std::string& group) {
  return exists(group + "/cgroup.freeze") || exists(group + "/freezer.state");
}

bool is_frozen(const std::string& group) {
  const Result<std::string> v2 = os::read_file(group + "/cgroup.freeze");
  const Result<std::string> v1 = os::read_file(group + "/freezer.state");
  return (v2 && v2->starts_with("1")) || (v1 && !v1->starts_with("THAWED"));
}

std::vector<std::string> existing(const std::string& groups) {
  std::vector<std::string> found;
  std::istringstream list(groups);
  for (std::string group; std::getline(list, group, ':');)
    if (!group.empty() && exists(group + "/cgroup.procs")) found.push_back(group);
  return found;
}

Status enter(const RunningJob& job, pid_t process) {
  const std::string name = "job " + node::directory_name(job.attempt);
  if (std::none_of(job.groups.begin(), job.groups.end(), ends_with_job))
    return fail(ErrorCode::failed_precondition,
                name + " has no control groups on this node that a session could join");
  if (std::any_of(job.groups.begin(), job.groups.end(), is_frozen))
    return fail(ErrorCode::failed_precondition, name + " is suspended");
  const std::string pid = std::to_string(process);
  for (const std::string& group : job.groups) {
    const std::string file = group + "/cgroup.procs";
    const os::Fd to(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!to || ::write(to.get(), pid.data(), pid.size()) < 0)
      return fail(ErrorCode::failed_precondition,
                  name + ": " + os::errno_error("cannot write to " + file).message);
  }
  return {};
}

}  // namespace

std::vector<RunningJob> running_jobs(const node::Spool& spool, std::string_view user,
                                     std::string_view boot_id) {
  std::vector<RunningJob> jobs;
  for (const AttemptKey& key : spool.list().value_or(std::vector<AttemptKey>())) {
    const std::unique_ptr<node::AttemptDir> dir = spool.open(key);
    if (!dir) continue;
    const Result<std::string> text = dir->read(node::Record::spec);
    const Result<node::StepSpec> spec = text ? node::decode_step_spec(*text) : fail(text.error());
    if (!spec || spec->user.name != user || spec->launch.attempt != key) continue;
    const Result<AttemptReport> report = node::report_attempt(spool, key, boot_id);
    if (!report || report->phase != AttemptPhase::running) continue;
    const auto go = node::read_record(*dir, node::Record::go, node::decode_go);
    const auto started = node::read_record(*dir, node::Record::started, node::decode_started);
    jobs.push_back({key, go.at, existing(started.cgroups)});
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const RunningJob& a, const RunningJob& b) { return a.since > b.since; });
  return jobs;
}

Status adopt(const node::Spool& spool, std::string_view user, std::string_view boot_id,
             pid_t process) {
  const std::vector<RunningJob> jobs = running_jobs(spool, user, boot_id);
  if (jobs.empty())
    return fail(ErrorCode::permission_denied,
                "user " + std::string(user) + " has no running job on this node");
  Status first;
  for (const RunningJob& job : jobs) {
    Status entered = enter(job, process);
    // It may have ended meanwhile, and its groups may not have been empty when they were removed.
    if (entered) {
      const Result<AttemptReport> report = node::report_attempt(spool, job.attempt, boot_id);
      if (report && report->phase == AttemptPhase::running) return {};
      entered = fail(ErrorCode::failed_precondition,
                     "job " + node::directory_name(job.attempt) + " has just ended");
    }
    if (first) first = std::move(entered);
  }
  return first;
}

}  // namespace ares::adopt
