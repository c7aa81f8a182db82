// Accounting records: a tree of accounts, users in accounts (associations), qualities of service
// (QOS), wckeys; with shares and limits. They say who may use the cluster and how much of it.
// Owned by ClusterState; values. Any thread may read.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/policy/preempt_mode.h"

namespace ares {

using AssociationId = Id<struct AssociationIdTag, std::uint64_t>;
using QosId = Id<struct QosIdTag, std::uint64_t>;

// The root of the account tree. Its limits apply to the whole cluster.
inline constexpr std::string_view kRootAccount = "root";
inline constexpr AssociationId kRootAssociation{1};
// The QOS of jobs that name none, unless their association has a default or may not use it.
inline constexpr std::string_view kNormalQos = "normal";
inline constexpr QosId kNormalQosId{1};
inline constexpr std::uint64_t kFirstRecordId = 2;  // smallest id of all other records

// Kinds of limits. Stored as its number: append only. limit_table() describes each kind.
enum class LimitKind : std::uint8_t {
  grp_jobs,
  grp_jobs_accrue,
  grp_submit_jobs,
  grp_tres,
  grp_tres_mins,
  grp_tres_run_mins,
  grp_wall,
  max_jobs,
  max_jobs_accrue,
  max_submit_jobs,
  max_tres_per_job,
  max_tres_mins_per_job,
  max_tres_per_node,
  max_wall,
  min_prio_thresh,
  max_jobs_per_user,
  max_jobs_per_account,
  max_jobs_accrue_per_user,
  max_jobs_accrue_per_account,
  max_submit_jobs_per_user,
  max_submit_jobs_per_account,
  max_tres_per_user,
  max_tres_per_account,
  max_tres_run_mins_per_user,
  max_tres_run_mins_per_account,
  min_tres_per_job,
};
inline constexpr LimitKind kLastLimitKind = LimitKind::min_tres_per_job;

enum class LimitUnit : std::uint8_t {
  count,         // of jobs, or a priority
  tres,          // an amount of each TRES named; memory in MiB
  tres_minutes,  // likewise, times minutes
  minutes,
};

struct LimitRow {
  LimitKind kind;
  std::string_view name;  // "GrpTRES"
  LimitUnit unit;
  bool association, qos;  // the kinds of records that may have it
  std::string_view help;
};
// In the order of LimitKind.
const std::vector<LimitRow>& limit_table();
const LimitRow& row_of(LimitKind kind);
// Ignores case and accepts short names ("MaxTRES" for MaxTRESPerJob). Null if the name is unknown.
const LimitRow* find_limit(std::string_view name);

struct Limit {
  LimitKind kind{};
  // Only for units per TRES: "cpu", "mem", "node", "gres/gpu:a100", "license/matlab", "billing".
  std::string tres;
  std::uint64_t value = 0;  // in the unit of its kind; 0 allows nothing
  friend auto operator<=>(const Limit&, const Limit&) = default;
};
// Ascending by kind and TRES, each once.
using Limits = std::vector<Limit>;
std::optional<std::uint64_t> limit_of(const Limits& limits, LimitKind kind,
                                      std::string_view tres = {});

// Settings of an account or of a user in it. A setting that is absent is inherited from the parent.
struct Terms {
  std::optional<std::uint32_t> shares = 1;  // none: the parent's (Fairshare=parent)
  std::uint32_t priority = 0;               // input of the priority factor `association`
  std::string default_qos;
  std::vector<std::string> qos;  // the QOS that jobs may use; ascending
  Limits limits;
  friend bool operator==(const Terms&, const Terms&) = default;
};

// An account and its place in the tree.
struct Account {
  std::string name;
  AssociationId id;
  std::string parent;  // empty: it is the root
  std::string description;
  std::string organization;
  // Users that may administer it and the accounts below it; ascending.
  std::vector<std::string> coordinators;
  Terms terms;
  Lsn changed;  // lsn of the last event that changed it, set by apply()
  friend bool operator==(const Account&, const Account&) = default;
};

// Administrative rights are not stored here but in ares.yaml (admins, operators) and in accounts.
struct User {
  std::string name;
  std::string default_account;
  std::string default_wckey;
  Lsn changed;
  friend bool operator==(const User&, const User&) = default;
};

struct AssociationKey {
  std::string account;
  std::string user;
  std::string partition;  // empty: all partitions without an association of this user and account
  friend auto operator<=>(const AssociationKey&, const AssociationKey&) = default;
};

// Membership of a user in an account.
struct Association {
  AssociationKey key;
  AssociationId id;
  Terms terms;
  Lsn changed;
  friend bool operator==(const Association&, const Association&) = default;
};

// Stored as bits: append only.
enum class QosFlag : std::uint32_t {
  deny_on_limit = 1,  // a job over a limit is refused, not kept waiting
  requires_reservation = 8,
  no_reserve = 16,            // its jobs get no planned start
  partition_time_limit = 32,  // its jobs may exceed this limit of partitions
  partition_max_nodes = 64,
  partition_min_nodes = 128,
  no_decay = 256,       // its usage does not decay: limits on minutes are used up for good
  over_part_qos = 512,  // its limits come before those of the partition's QOS
  enforce_usage_threshold = 1024,  // none start for users with a fair share below its threshold
  relative = 2048,                 // its TRES limits are percentages of the cluster or partition
};
struct QosFlagRow {
  QosFlag flag;
  std::string_view name;
  std::string_view help;
};
const std::vector<QosFlagRow>& qos_flag_table();

struct Qos {
  std::string name;
  QosId id;
  std::string description;
  std::uint32_t priority = 0;
  std::uint32_t flags = 0;            // bit set of QosFlag
  std::uint32_t usage_factor = 1000;  // usage is multiplied by this, thousandths
  // Thousandths: multiplies GrpTRES and MaxTRES limits of accounts and users for jobs of this QOS.
  std::uint32_t limit_factor = 1000;
  std::uint32_t usage_threshold = 0;  // thousandths of a fair share from 0 to 1
  Limits limits;
  std::vector<std::string> preempts;  // QOS whose running jobs its jobs may preempt; ascending
  std::optional<PreemptMode> preempt_mode{};  // of its jobs as victims; none = the partition's
  std::optional<Seconds> preempt_exempt{};    // run time until they may be; none = the site's
  std::optional<Seconds> grace{};  // from SIGTERM to SIGKILL at preemption; none = the site's
  Lsn changed;
  bool has(QosFlag flag) const { return (flags & static_cast<std::uint32_t>(flag)) != 0; }
  friend bool operator==(const Qos&, const Qos&) = default;
};

struct WckeyKey {
  std::string name;
  std::string user;
  friend auto operator<=>(const WckeyKey&, const WckeyKey&) = default;
};
struct Wckey {
  WckeyKey key;
  AssociationId id;  // key of its usage; 0 = made by a release that recorded no usage of wckeys
  Lsn changed;
  friend bool operator==(const Wckey&, const Wckey&) = default;
};

using AccountingRecord = std::variant<Account, User, Association, Qos, Wckey>;

// Index into AccountingRecord.
enum class RecordKind : std::uint8_t { account, user, association, qos, wckey };

// Identifies a record by its kind and names. Most kinds use only `name`.
struct RecordKey {
  RecordKind kind{};
  std::string name, user, partition;
  friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
};
RecordKey key_of(const AccountingRecord& record);
Lsn changed_at(const AccountingRecord& record);
std::string describe(const RecordKey& key);  // "account physics", "user ada in account physics"

// Which accounting rules jobs must satisfy. Each level includes the ones above it.
enum class Enforce : std::uint8_t {
  none,          // accounts are optional; a named QOS must exist if any QOS does
  associations,  // jobs need an association, and a QOS that it allows
  limits,        // limits are enforced
  safe,          // a job starts only if limits on TRES-minutes let it run to its time limit
};
inline constexpr Enforce kLastEnforce = Enforce::safe;
std::string_view to_string(Enforce enforce);

}  // namespace ares
