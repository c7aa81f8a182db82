#include "aresd/confirm.h"

#include "exec/baremetal/file_spool.h"
#include "os/clock.h"
#include "os/sweep.h"

namespace ares::aresd {

namespace {

std::optional<std::int64_t> living_reaper(const node::AttemptDir& dir) {
  const Result<std::string> text = dir.read(node::Record::started);
  const Result<node::StartedRecord> started =
      text ? node::decode_started(*text) : fail(text.error());
  if (!started || started->reaper_pid == 0) return std::nullopt;
  if (os::process_gone(static_cast<pid_t>(started->reaper_pid), started->reaper_start_ticks))
    return std::nullopt;
  return started->reaper_pid;
}

}  // namespace

Status confirm_ended(const std::string& spool, const std::string& attempt) {
  const std::optional<AttemptKey> key = node::parse_directory_name(attempt);
  if (!key)
    return fail(ErrorCode::invalid_argument,
                "\"" + attempt + "\" is not an attempt; write it as JOB.ATTEMPT, such as 12.1");
  const std::unique_ptr<exec::FileSpool> shared = exec::FileSpool::share(spool);
  const std::unique_ptr<node::AttemptDir> dir = shared->open(*key);
  if (!dir) return fail(ErrorCode::not_found, "attempt " + attempt + " is not in spool " + spool);
  if (shared->locked(*key))
    return fail(ErrorCode::failed_precondition, "the supervisor of attempt " + attempt +
                                                    " lives; cancel the job with acancel " +
                                                    attempt.substr(0, attempt.find('.')));
  if (const std::optional<std::int64_t> reaper = living_reaper(*dir))
    return fail(
        ErrorCode::failed_precondition,
        "the reaper of attempt " + attempt + " (process " + std::to_string(*reaper) +
            ") lives; it ends what is left of the job and then records the end. If a process "
            "stays that it cannot end, see `ps --forest`, end that one");
  if (!dir->has(node::Record::go) || dir->has(node::Record::exit))
    return fail(ErrorCode::failed_precondition,
                "attempt " + attempt +
                    (dir->has(node::Record::exit) ? " has ended" : " has not started user code") +
                    ": there is nothing to confirm");
  Status confirmed =
      dir->create(node::Record::gone, encode(node::GoneRecord{"operator", os::wall_now()}));
  if (!confirmed && confirmed.error().code == ErrorCode::already_exists) return {};
  return confirmed;
}

}  // namespace ares::aresd
