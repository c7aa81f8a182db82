#include "aresstepd/task_body.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "aresstepd/become_user.h"
#include "aresstepd/bind_task.h"
#include "aresstepd/pam_session.h"
#include "aresstepd/restore/fetch_program.h"
#include "aresstepd/restore/restore.h"
#include "aresstepd/script_child.h"
#include "aresstepd/task_epilog.h"
#include "aresstepd/task_pid.h"
#include "aresstepd/task_prolog.h"
#include "base/clip.h"
#include "base/time.h"
#include "node/checkpoint_fields.h"
#include "node/environment.h"
#include "node/file_pattern.h"
#include "node/records.h"
#include "node/step_spec.h"
#include "os/access_list.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/private_tmp.h"
#include "os/process/exec_words.h"

namespace ares::stepd {
namespace {

using Failure = os::TaskTree::BodyFailure;
using MaybeFailure = std::optional<Failure>;

constexpr int kCannot = 1;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

// Limit for a path in a message, so that the reason after it is not cut off.
constexpr std::size_t kMostOfPath = 300;

Failure failed(const std::string& what, int error = errno) {
  return {kCannot, os::errno_error(what, error).message};
}

// The script stays root's: users may run and read it, not change it, because what it holds counts
// for no quota of theirs and a full spool ends all launches of the node.
MaybeFailure make_executable(const std::string& script, const node::StepSpec& spec) {
  const UserId user = spec.launch.spec->uid;
  constexpr mode_t kOwn = 0500;
  if (::geteuid() != 0 || user.value() == 0) {
    if (::chmod(script.c_str(), kOwn) == 0) return std::nullopt;
    return failed("cannot make the script executable");
  }
  const Status permitted = os::let_user_execute(script, user);
  if (permitted) return std::nullopt;
  if (permitted.error().code != ErrorCode::failed_precondition)
    return Failure{kCannot, permitted.error().message};
  // Without access control lists other members of the user's group can read it, too.
  constexpr mode_t kOwnAndGroup = 0550;
  if (::chown(script.c_str(), 0, spec.user.gid.value()) == 0 &&
      ::chmod(script.c_str(), kOwnAndGroup) == 0)
    return std::nullopt;
  return failed("cannot make the script executable");
}

// Called as the user: the user's permissions count, also on file systems that squash root.
MaybeFailure open_as(int target, const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666);
  const int error = errno;
  const std::string shown = clip(path, kMostOfPath);
  if (fd < 0)
    return failed((target == 0 ? "cannot open input file " : "cannot open output file ") + shown,
                  error);
  if (fd == target) return ::fcntl(fd, F_SETFD, 0), std::nullopt;
  if (::dup2(fd, target) < 0) return failed("cannot redirect to " + shown);
  ::close(fd);
  return std::nullopt;
}

// `complaints` are for the user, one a line.
MaybeFailure open_files(const node::StepSpec& spec, std::string_view complaints) {
  const JobSpec& job = *spec.launch.spec;
  const int write_flags =
      O_WRONLY | O_CREAT | O_APPEND | (job.open_mode == OpenMode::append ? 0 : O_TRUNC);
  const std::string in = job.std_in.empty() ? "/dev/null" : node::expand_pattern(job.std_in, spec);
  const std::string out = node::output_file(spec);
  const std::string err = node::errors_file(spec);
  if (auto failure = open_as(0, in, O_RDONLY)) return failure;
  if (auto failure = open_as(1, out, write_flags)) return failure;
  if (err == out) {
    if (::dup2(1, 2) < 0) return failed("cannot redirect to " + clip(err, kMostOfPath));
  } else if (auto failure = open_as(2, err, write_flags)) {
    return failure;
  }
  while (!complaints.empty()) {
    const std::string_view line = complaints.substr(0, complaints.find('\n'));
    ::dprintf(2, "aresstepd: %.*s\n", static_cast<int>(line.size()), line.data());
    complaints.remove_prefix(std::min(line.size() + 1, complaints.size()));
  }
  return std::nullopt;
}

// On the other nodes of a job. It ends with its parent, whatever the job's user or a signal to all
// processes of the job asks for.
[[noreturn]] void hold_allocation() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::prctl(PR_SET_NAME, "ares-hold");
  for (const int fd : {0, 1, 2}) ::close(fd);
  for (;;) ::pause();
}

// Continues in a child of this process, which closes the session after it.
MaybeFailure open_session(const node::StepSpec& spec, std::vector<std::string>& variables) {
  if (spec.pam_service.empty()) return std::nullopt;
  Result<PamSession> session = PamSession::open(spec.pam_service, spec.user.name);
  if (!session) return Failure{kCannot, session.error().message};
  session->take_limits();
  if (const Status in_child = continue_as_child([&] { session->close(); }); !in_child)
    return Failure{kCannot, in_child.error().message};
  session->disown();
  variables = session->environment();
  return std::nullopt;
}

// The record `restored`, opened as root and written after this process has become the job's user.
os::Fd open_restored(const std::string& directory, const LaunchSpec& launch) {
  if (launch.checkpoints.empty()) return {};
  const std::string path = directory + "/" + std::string(node::file_name(node::Record::restored));
  return os::Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
}

// What the job begins from. What was found is for users to see: the job runs as well if it cannot be recorded.
Result<Restore> find_restore(const LaunchSpec& launch, const std::vector<std::string>& variables,
                             os::Fd record) {
  Result<Restore> restore = find_checkpoint(
      launch, variables, fetcher_path(),
      [&](const std::string& line) { ::dprintf(2, "aresstepd: %s\n", line.c_str()); });
  if (!restore || !record) return restore;
  const std::string text = node::encode(
      std::optional(Restored{launch.attempt.attempt, restore->sequence, restore->passed_over}));
  (void)!::write(record.get(), text.data(), text.size());
  return restore;
}

// `environment` is the submitted one, NUL-separated.
Failure run_script(const node::StepSpec& spec, const std::string& directory,
                   const std::string& environment, Time now) {
  const JobSpec& job = *spec.launch.spec;
  const std::string script = directory + "/script";
  if (::geteuid() == 0)
    if (os::Fd adjust(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); adjust)
      (void)!::write(adjust.get(), "0", 1);
  if (auto failure = make_executable(script, spec)) return *failure;
  std::vector<std::string> of_session;
  if (auto failure = open_session(spec, of_session)) return *failure;
  os::Fd restored = open_restored(directory, spec.launch);  // not kept by the session's process
  std::string complaints = bind_task(spec);
  set_limits(job.limits);
  if (!spec.private_tmp.empty())
    if (const Status entered = os::enter_private_tmp(spec.private_tmp); !entered)
      return {kCannot, entered.error().message};
  if (const Status became = become_user(spec); !became) return {kCannot, became.error().message};
  ::umask(job.umask & 0777);

  const std::string& work_dir = job.work_dir.empty() ? job.submit_dir : job.work_dir;
  if (::chdir(work_dir.c_str()) != 0) {
    complaints += os::errno_error("cannot change to directory " + work_dir).message +
                  "; using /tmp instead\n";
    if (::chdir("/tmp") != 0) return failed("cannot change to directory /tmp");
  }
  if (auto failure = open_files(spec, complaints)) return *failure;

  std::vector<std::string> arguments{script};
  arguments.insert(arguments.end(), job.arguments.begin(), job.arguments.end());
  std::vector<std::string> variables = node::job_environment(spec, environment, directory, now, "");
  const Result<Restore> restore = find_restore(spec.launch, variables, std::move(restored));
  if (!restore) return {kCannot, restore.error().message};
  if (!restore->directory.empty())
    variables = node::job_environment(spec, environment, directory, now, restore->directory);
  if (!restore->temporary.empty())
    if (const Status in_child = continue_as_child([&] {
          std::error_code ignored;
          std::filesystem::remove_all(restore->temporary, ignored);
        });
        !in_child)
      return {kCannot, in_child.error().message};
  set_variables(variables, of_session);
  name_this_process(variables, spec.slurm_variables);
  if (!spec.task_prolog.empty())
    if (const Status ran = run_task_prolog(spec.task_prolog, variables); !ran)
      return {kCannot, ran.error().message};
  if (spec.task_epilog)
    if (const Status in_child = continue_as_child([&] {
          const std::string wrong = run_task_epilog(*spec.task_epilog, variables);
          if (!wrong.empty()) ::dprintf(2, "aresstepd: the task epilog %s\n", wrong.c_str());
        });
        !in_child)
      return {kCannot, in_child.error().message};
  if (spec.task_epilog) name_this_process(variables, spec.slurm_variables);
  ::execve(script.c_str(), os::exec_words(arguments).data(), os::exec_words(variables).data());

  const int error = errno;
  std::string why = os::errno_error("cannot execute the batch script", error).message;
  if (error == ENOENT) why += "; is the interpreter of its first line on this node?";
  ::dprintf(2, "aresstepd: %s\n", why.c_str());
  return {error == ENOENT ? kNotFound : kNotExecutable, why};
}

}  // namespace

os::TaskTree::BodyFailure run_attempt(const std::string& directory) {
  const Result<os::RecordDir> records = os::RecordDir::open(directory);
  const auto read = [&](node::Record record) -> Result<std::string> {
    return records ? records->read(node::file_name(record)) : fail(records.error());
  };
  const Result<std::string> text = read(node::Record::spec);
  const Result<node::StepSpec> spec =
      text ? node::decode_step_spec(*text) : Result<node::StepSpec>(fail(text.error()));
  if (!spec) return {kCannot, spec.error().message};
  if (spec->launch.rank != 0) hold_allocation();
  const Result<std::string> environment = read(node::Record::environment);
  return run_script(*spec, directory, environment.value_or(""), os::wall_now());
}

}  // namespace ares::stepd
