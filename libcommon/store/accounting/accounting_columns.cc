#include <algorithm>

#include "store/accounting/accounting_sql.h"
#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

using R = api::AccountingRow;

template <class T>
struct Argument;
template <class T>
struct Argument<void (R::*)(T)> {
  using type = T;
};

template <auto Mutable>
void text(const PgRows& rows, int row, int column, R& out) {
  const std::string_view bytes = rows.bytes(row, column);
  if (!bytes.empty()) (out.*Mutable)()->assign(bytes);
}

template <auto Set>
void number(const PgRows& rows, int row, int column, R& out) {
  using Value = typename Argument<decltype(Set)>::type;
  if (!rows.null(row, column)) (out.*Set)(static_cast<Value>(rows.bigint(row, column)));
}

template <auto Set>
void flag(const PgRows& rows, int row, int column, R& out) {
  if (!rows.null(row, column)) (out.*Set)(rows.bytes(row, column)[0] != 0);
}

template <auto Set>
void time(const PgRows& rows, int row, int column, R& out) {
  if (!rows.null(row, column)) (out.*Set)(rows.time(row, column).time_since_epoch().count());
}

void job(const PgRows& rows, int row, int column, R& out) {
  out.mutable_key()->set_job(static_cast<std::uint64_t>(rows.bigint(row, column)));
}

void task(const PgRows& rows, int row, int column, R& out) {
  const TaskIndex index = task_from_column(rows.bigint(row, column));
  if (!index.is_none()) out.mutable_key()->set_task(index.value);
}

// In the order of the table's columns, because PostgreSQL decodes a row from left to right.
constexpr AccountingColumn kColumns[] = {
    {R::kKeyFieldNumber, "job_id", 8, job},
    {R::kKeyFieldNumber, "task", 8, task},
    {R::kAttemptFieldNumber, "attempt", 4, number<&R::set_attempt>},
    {R::kOwnIdFieldNumber, "own_id", 8, number<&R::set_own_id>},
    {R::kUidFieldNumber, "uid", 8, number<&R::set_uid>},
    {R::kGidFieldNumber, "gid", 8, number<&R::set_gid>},
    {R::kSubmittedFieldNumber, "submitted", 8, time<&R::set_submitted>},
    {R::kEligibleFieldNumber, "eligible", 8, time<&R::set_eligible>},
    {R::kAllocatedAtFieldNumber, "allocated", 8, time<&R::set_allocated_at>},
    {R::kStartedFieldNumber, "started", 8, time<&R::set_started>},
    {R::kEndedFieldNumber, "ended", 8, time<&R::set_ended>},
    {R::kUserCpuFieldNumber, "user_cpu", 8, number<&R::set_user_cpu>},
    {R::kSystemCpuFieldNumber, "system_cpu", 8, number<&R::set_system_cpu>},
    {R::kMaxRssFieldNumber, "max_rss", 8, number<&R::set_max_rss>},
    {R::kDiskReadFieldNumber, "disk_read", 8, number<&R::set_disk_read>},
    {R::kDiskWrittenFieldNumber, "disk_written", 8, number<&R::set_disk_written>},
    {R::kMaxDiskReadFieldNumber, "max_disk_read", 8, number<&R::set_max_disk_read>},
    {R::kMaxDiskWrittenFieldNumber, "max_disk_written", 8, number<&R::set_max_disk_written>},
    {R::kTimeLimitFieldNumber, "time_limit", 8, number<&R::set_time_limit>},
    {R::kCpusFieldNumber, "cpus", 8, number<&R::set_cpus>},
    {R::kTasksFieldNumber, "tasks", 8, number<&R::set_tasks>},
    {R::kPriorityFieldNumber, "priority", 8, number<&R::set_priority>},
    {R::kRestartsFieldNumber, "restarts", 8, number<&R::set_restarts>},
    {R::kCancelledByFieldNumber, "cancelled_by", 8, number<&R::set_cancelled_by>},
    {R::kExitCodeFieldNumber, "exit_code", 4, number<&R::set_exit_code>},
    {R::kExitSignalFieldNumber, "exit_signal", 4, number<&R::set_exit_signal>},
    {R::kNodeCountFieldNumber, "node_count", 4, number<&R::set_node_count>},
    {R::kSupersededFieldNumber, "superseded", 1, flag<&R::set_superseded>},
    {R::kExclusiveFieldNumber, "exclusive", 1, flag<&R::set_exclusive>},
    {R::kNameFieldNumber, "name", 24, text<&R::mutable_name>},
    {R::kUserFieldNumber, "user_name", 16, text<&R::mutable_user>},
    {R::kAccountFieldNumber, "account", 16, text<&R::mutable_account>},
    {R::kQosFieldNumber, "qos", 16, text<&R::mutable_qos>},
    {R::kWckeyFieldNumber, "wckey", 16, text<&R::mutable_wckey>},
    {R::kPartitionFieldNumber, "partition", 16, text<&R::mutable_partition>},
    {R::kStateFieldNumber, "state", 16, text<&R::mutable_state>},
    {R::kReasonFieldNumber, "reason", 16, text<&R::mutable_reason>},
    {R::kNodeListFieldNumber, "node_list", 32, text<&R::mutable_node_list>},
    {R::kMaxRssNodeFieldNumber, "max_rss_node", 16, text<&R::mutable_max_rss_node>},
    {R::kRequestedTresFieldNumber, "requested_tres", 64, text<&R::mutable_requested_tres>},
    {R::kAllocatedTresFieldNumber, "allocated_tres", 64, text<&R::mutable_allocated_tres>},
    {R::kArraySpecFieldNumber, "array_spec", 16, text<&R::mutable_array_spec>},
    {R::kArrayTasksFieldNumber, "array_tasks", 4, text<&R::mutable_array_tasks>},
    {R::kWorkDirFieldNumber, "work_dir", 64, text<&R::mutable_work_dir>},
    {R::kSubmitHostFieldNumber, "submit_host", 32, text<&R::mutable_submit_host>},
    {R::kSubmitZoneFieldNumber, "submit_zone", 16, text<&R::mutable_submit_zone>},
    {R::kCauseFieldNumber, "cause", 16, text<&R::mutable_cause>},
    {R::kCommentFieldNumber, "comment", 32, text<&R::mutable_comment>},
    {R::kConstraintsFieldNumber, "constraints", 16, text<&R::mutable_constraints>},
    {R::kLicensesFieldNumber, "licenses", 16, text<&R::mutable_licenses>},
    {R::kStdInFieldNumber, "std_in", 32, text<&R::mutable_std_in>},
    {R::kStdOutFieldNumber, "std_out", 32, text<&R::mutable_std_out>},
    {R::kStdErrFieldNumber, "std_err", 32, text<&R::mutable_std_err>},
    {R::kSubmitLineFieldNumber, "submit_line", 64, text<&R::mutable_submit_line>},
    {R::kSuspendedFieldNumber, "suspended", 8, number<&R::set_suspended>},
    {R::kSuspendedAtFieldNumber, "suspended_at", 8, time<&R::set_suspended_at>},
    {R::kReservationsFieldNumber, "reservations", 4, text<&R::mutable_reservations>},
    {R::kSegmentFieldNumber, "segment", 8, number<&R::set_segment>},
    {R::kExclusiveUserFieldNumber, "exclusive_user", 1, flag<&R::set_exclusive_user>},
    {R::kContainerImageFieldNumber, "container", 4, text<&R::mutable_container_image>},
    {R::kExtraFieldNumber, "extra", 4, text<&R::mutable_extra>},
    {R::kMaxDiskReadNodeFieldNumber, "max_disk_read_node", 16,
     text<&R::mutable_max_disk_read_node>},
    {R::kMaxDiskWrittenNodeFieldNumber, "max_disk_written_node", 16,
     text<&R::mutable_max_disk_written_node>},
};

bool always(int field) {
  return field == R::kKeyFieldNumber || field == R::kAttemptFieldNumber;
}

}  // namespace

std::vector<const AccountingColumn*> accounting_columns(const std::vector<std::uint32_t>& fields) {
  std::vector<const AccountingColumn*> chosen;
  for (const AccountingColumn& column : kColumns) {
    const auto asked = [&](std::uint32_t field) { return field == std::uint32_t(column.field); };
    if (fields.empty() || always(column.field) || std::any_of(fields.begin(), fields.end(), asked))
      chosen.push_back(&column);
  }
  return chosen;
}

}  // namespace ares::store
