#include "store/journal/high_water.h"

#include <algorithm>
#include <utility>

namespace ares::store {
namespace {

constexpr std::uint64_t kReservedEvents = 1'000'000;

std::string describe(const HighWaterMark& mark) {
  return "epoch " + std::to_string(mark.position.epoch.value()) + ", event " +
         std::to_string(mark.position.lsn.value());
}

}  // namespace

HighWaterMark with_reserve(HighWaterMark mark, std::uint64_t ids) {
  mark.reserved_lsn = Lsn(mark.position.lsn.value() + kReservedEvents);
  mark.reserved_job_id = JobId(mark.position.next_job_id.value() + ids);
  return mark;
}

bool advance(HighWaterMark& mark, Epoch epoch, Lsn lsn, JobId next_job_id, NodeId next_node_id) {
  mark.position.epoch = epoch;
  mark.position.lsn = lsn;
  mark.position.next_job_id = next_job_id;
  mark.next_node_id = next_node_id;
  if (lsn <= mark.reserved_lsn && next_job_id <= mark.reserved_job_id) return false;
  mark = with_reserve(std::move(mark), kReservedIds);
  return true;
}

HighWaterMark raised_to(HighWaterMark mark, const JournalPosition& heard) {
  JournalPosition& position = mark.position;
  if (!heard.history.empty()) position.history = heard.history;
  if (!heard.holder.empty()) position.holder = heard.holder;
  position.epoch = std::max(position.epoch, heard.epoch);
  position.lsn = std::max(position.lsn, heard.lsn);
  position.next_job_id = std::max(position.next_job_id, heard.next_job_id);
  return with_reserve(std::move(mark), kIdsBetweenHeartbeats);
}

Status check_not_behind(const HighWaterMark& seen, const HighWaterMark& found,
                        const std::vector<std::string>& past_histories) {
  if (seen.system != found.system)
    return fail(ErrorCode::failed_precondition,
                "this is another database than the one this controller used before (it is " +
                    found.system + ", before it was " + seen.system +
                    "): check `database:` in ares.yaml; if the change is meant, start once with "
                    "--accept-rollback");
  const std::string& history = seen.position.history;
  const auto& past = past_histories;
  // Another controller has accepted a rollback.
  if (std::find(past.begin(), past.end(), history) != past.end()) return {};
  if (!history.empty() && history != found.position.history)
    return fail(
        ErrorCode::data_loss,
        "the database stands at " + describe(found) +
            ", in a history that a rollback has ended since: this controller has seen it at " +
            describe(seen) +
            " of the later one. An older copy was restored. Restore a newer copy; or "
            "start once with --accept-rollback to go on without what is missing");
  if (found.position.epoch < seen.position.epoch || found.position.lsn < seen.position.lsn)
    return fail(ErrorCode::data_loss,
                "the database stands at " + describe(found) +
                    ", but this controller has seen it at " + describe(seen) +
                    ": an older copy was restored, or writes were lost. Restore a newer copy; or "
                    "start once with --accept-rollback to go on without what is missing");
  return {};
}

HighWaterMark raised_above(const HighWaterMark& seen, const HighWaterMark& found) {
  const JournalPosition& was = seen.position;
  HighWaterMark raised = found;
  JournalPosition& now = raised.position;
  now.epoch = std::max(was.epoch, now.epoch);
  now.lsn = std::max({seen.reserved_lsn, was.lsn, now.lsn}).next();
  now.next_job_id = std::max({seen.reserved_job_id, was.next_job_id, now.next_job_id});
  raised.next_node_id = std::max(seen.next_node_id, found.next_node_id);
  return raised;
}

JobId next_job_id_after(const HighWaterMark& seen, const HighWaterMark& found) {
  const JobId next = found.position.next_job_id;
  return seen.may_lack_last_moments ? std::max(seen.reserved_job_id, next) : next;
}

}  // namespace ares::store
