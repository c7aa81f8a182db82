#include "aresd/confirm.h"

#include "exec/baremetal/file_spool.h"
#include "os/clock.h"

namespace ares::aresd {

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
