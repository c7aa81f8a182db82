#include "exec/baremetal/remains.h"

#include "os/file.h"
#include "os/sweep.h"

namespace ares::exec {
namespace {

using node::Record;
using node::Remains;

// Before `exit` is written the tree is gone, and without `go` no user code has run.
bool may_leave_processes(const node::AttemptDir& dir, const std::string& boot_id) {
  if (dir.has(Record::exit) || dir.has(Record::gone) || !dir.has(Record::go)) return false;
  const Result<std::string> text = dir.read(Record::intent);
  const auto intent = text ? node::decode_intent(*text) : fail(text.error());
  return !intent || intent->boot_id == boot_id;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:=@%";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

constexpr std::string_view kReaperWaits =
    "the supervisor was killed, and its reaper has not ended all processes of the job yet; end "
    "those "
    "that are left, which are the descendants of process ";

std::string advice(const AttemptKey& key, const NodeOfSpool& node) {
  std::string command = "aresd ";
  if (!node.config.empty()) command += "--config " + shell_word(node.config) + " ";
  command += "--node " + node.name + " --confirm-ended " + node::directory_name(key);
  return "the supervisor was killed, and it is not certain that all processes of the job have "
         "ended; end those that are left on node " +
         node.name + ", then confirm it there with: " + command;
}

bool has_reaper(const node::StartedRecord& started) {
  return started.reaper_pid != 0 &&
         !os::process_gone(static_cast<pid_t>(started.reaper_pid), started.reaper_start_ticks);
}

Remains::State end_processes(const FileSpool& spool, const AttemptKey& key,
                             const node::AttemptDir& dir, const node::StartedRecord& started) {
  const auto task = node::read_record(dir, Record::task, node::decode_task);
  if (task.pid == 0) return Remains::none;  // on another node of the job
  if (task.own_pid_namespace) {
    // The kernel kills the namespace with its init, but not at once, and what v1 has frozen only when it is thawed.
    os::kill_groups(started.cgroups);
    const bool gone = os::namespace_gone(static_cast<pid_t>(task.pid), task.start_ticks, {});
    return gone ? Remains::none : Remains::dying;
  }
  os::kill_groups(started.cgroups);
  os::kill_marked("ARES_ATTEMPT_DIR=" + spool.directory(key));
  if (has_reaper(started)) return Remains::dying;
  return dir.has(Record::gone) ? Remains::none : Remains::unknown;
}

}  // namespace

Remains end_remains(const FileSpool& spool, const AttemptKey& key, const NodeOfSpool& node) {
  const std::unique_ptr<node::AttemptDir> dir = spool.open(key);
  if (!dir) return {};
  const auto started = node::read_record(*dir, Record::started, node::decode_started);
  Remains remains;
  if (may_leave_processes(*dir, node.boot_id))
    remains.state = end_processes(spool, key, *dir, started);
  if (remains.state == Remains::none) {
    os::remove_groups(started.cgroups);
    // Its supervisor has removed it, unless that was killed.
    if (!node.private_tmp.empty())
      (void)os::remove_tree(node.private_tmp + "/" + node::directory_name(key));
  } else if (has_reaper(started)) {  // which records the end
    remains.advice = std::string(kReaperWaits) + std::to_string(started.reaper_pid);
  } else {
    remains.advice = advice(key, node);
  }
  return remains;
}

}  // namespace ares::exec
