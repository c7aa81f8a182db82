// Who may use the cluster, on whose account, and how much of it: accounts in a tree, users in accounts (associations), qualities of
// service, wckeys; each with shares and limits.
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

// The account above all others: its limits are the cluster's.
inline constexpr std::string_view kRootAccount = "root";
inline constexpr AssociationId kRootAssociation{1};
// What jobs run with that name no other, unless something says otherwise.
inline constexpr std::string_view kNormalQos = "normal";
inline constexpr QosId kNormalQosId{1};
inline constexpr std::uint64_t kFirstRecordId = 2;  // of everything but these

// What a limit is of. Stored as its number: append only. What each means is a row of limit_table().
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
  bool association, qos;  // what may have it
  std::string_view help;
};
// In the order of LimitKind.
const std::vector<LimitRow>& limit_table();
const LimitRow& row_of(LimitKind kind);
// Case does not matter; also by the short names that site administrators type ("MaxTRES" for MaxTRESPerJob). Null: no limit.
const LimitRow* find_limit(std::string_view name);

struct Limit {
  LimitKind kind{};
  std::string
      tres;  // of units per TRES: "cpu", "mem", "node", "gres/gpu:a100", "license/matlab", "billing"
  std::uint64_t value = 0;  // in the unit of its kind; 0 = nothing at all
  friend auto operator<=>(const Limit&, const Limit&) = default;
};
// Ascending by kind and TRES, each once.
using Limits = std::vector<Limit>;
std::optional<std::uint64_t> limit_of(const Limits& limits, LimitKind kind,
                                      std::string_view tres = {});

// What holds for an account or for a user in it. What is not set here is the parent's.
struct Terms {
  std::optional<std::uint32_t> shares = 1;  // none: as much as the parent (Fairshare=parent)
  std::uint32_t priority = 0;               // for the factor `association`
  std::string default_qos;
  std::vector<std::string> qos;  // ascending; jobs may run with one of these
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
  std::vector<std::string>
      coordinators;  // users who may administer it and what is below; ascending
  Terms terms;
  Lsn changed;  // by that event, set by apply()
  friend bool operator==(const Account&, const Account&) = default;
};

// Whether he administers anything is said in ares.yaml (admins, operators) and by accounts (coordinators).
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
  std::string partition;  // empty: in those for which the user has no other
  friend auto operator<=>(const AssociationKey&, const AssociationKey&) = default;
};

// A user in an account.
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
  no_reserve = 16,            // its jobs are promised no start
  partition_time_limit = 32,  // its jobs are not held to these bounds of partitions
  partition_max_nodes = 64,
  partition_min_nodes = 128,
  no_decay = 256,       // its usage does not decay: limits on minutes are used up for good
  over_part_qos = 512,  // its limits come before those of the partition's QOS
  enforce_usage_threshold = 1024,  // whoever's fair share is below its threshold starts no more
  relative = 2048,                 // its limits on TRES are percent of the cluster or partition
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
  std::uint32_t flags = 0;            // of QosFlag
  std::uint32_t usage_factor = 1000;  // thousandths that usage is charged with
  // Thousandths: GrpTRES and MaxTRES of accounts and users count as so many times for its jobs.
  std::uint32_t limit_factor = 1000;
  std::uint32_t usage_threshold = 0;  // thousandths of a fair share from 0 to 1
  Limits limits;
  std::vector<std::string> preempts;  // QOS whose running jobs make room for its own; ascending
  std::optional<PreemptMode> preempt_mode{};  // of its jobs as victims; none = their partition's
  std::optional<Seconds> preempt_exempt{};    // for so long they run in any case; none = the site's
  std::optional<Seconds> grace{};  // from their SIGTERM to SIGKILL then; none = the site's
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
  AssociationId id;  // for its usage; 0 = of an earlier release, which kept none
  Lsn changed;
  friend bool operator==(const Wckey&, const Wckey&) = default;
};

using AccountingRecord = std::variant<Account, User, Association, Qos, Wckey>;

// Positions in it.
enum class RecordKind : std::uint8_t { account, user, association, qos, wckey };

// What identifies a record: its kind and its names, of which most kinds have one.
struct RecordKey {
  RecordKind kind{};
  std::string name, user, partition;
  friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
};
RecordKey key_of(const AccountingRecord& record);
Lsn changed_at(const AccountingRecord& record);
std::string describe(const RecordKey& key);  // "account physics", "user ada in account physics"

// How far a site holds jobs to all this.
enum class Enforce : std::uint8_t {
  none,          // nobody needs an account; but a QOS that is named must exist, if any do
  associations,  // only users of an account run jobs on it, with a QOS that is theirs
  limits,        // and limits hold
  safe,          // and no job starts that a limit on TRES-minutes would not let finish
};
inline constexpr Enforce kLastEnforce = Enforce::safe;
std::string_view to_string(Enforce enforce);

}  // namespace ares
