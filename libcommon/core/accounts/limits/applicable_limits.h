// The limits on several jobs together (Grp*, MaxJobs, MaxSubmitJobs, those per user and per account
// of a QOS) that apply to a job, and the jobs that each of them counts. The records must not change
// during its lifetime; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/accounts/binding_qos.h"
#include "core/accounts/limits/limit_reasons.h"
#include "model/accounts/current_usage.h"

namespace ares::core {

// What such a limit counts, and over which jobs of its record: all, one user's or one account's.
enum class Measure : std::uint8_t { running, submitted, accruing, tres, run_minutes, used_minutes };
enum class CountedPer : std::uint8_t { all, user, account };
struct SharedKind {
  LimitKind kind;
  Measure measure;
  CountedPer per;
};
// Null if limits of the kind are on one job by itself, or on no amount.
const SharedKind* shared_kind(LimitKind kind);

using Partitions = CowMap<std::string, Partition>;

// Whether limits on several jobs, or a threshold, may keep such jobs from starting there.
bool has_shared_limits(const Accounting& records, Enforce enforce, const JobSpec& spec,
                       const Partition& partition);
// Whether a limit of that measure applies to these jobs.
bool has_limits_on(Measure measure, const Accounting& records, const Partitions& partitions,
                   Enforce enforce, const UsageKey& who);

// The key under which such jobs are counted in that partition.
UsageKey usage_key_of(const JobSpec& spec, const std::string& partition);

class ApplicableLimits {
 public:
  // The jobs that are counted together.
  struct LimitScope {
    enum class Kind : std::uint8_t { association, account, qos, qos_user, qos_account };
    Kind kind{};
    std::string name, second;  // the account; the QOS, and the user or account in it
    AssociationId id{};        // of the association, the account or the QOS
    friend auto operator<=>(const LimitScope&, const LimitScope&) = default;
  };
  // One limit, how to read it, and the jobs that it counts.
  struct LimitBound {
    const Limit* limit = nullptr;
    LimitScale scale;
    const SharedKind* shared = nullptr;
    LimitScope scope;
    std::string whose;
    bool qos = false;
  };
  // The limits that apply to all jobs of one usage key.
  struct LimitSet {
    std::vector<LimitBound> bounds;  // those of the QOS first, then the nearest
    bool deny = false;
    // QOS with a usage threshold, and their names in texts. Jobs with less fair share do not start.
    std::vector<std::pair<const Qos*, std::string>> thresholds{};
    std::uint64_t factor = 0;  // usage factor of the job's own QOS, thousandths
  };

  // Both must outlive it.
  ApplicableLimits(const Accounting& records, const Partitions& partitions)
      : records_(records), partitions_(partitions) {}
  ApplicableLimits(const ApplicableLimits&) = delete;
  ApplicableLimits& operator=(const ApplicableLimits&) = delete;

  const LimitSet& limits_for(const UsageKey& usage_key);
  const std::vector<LimitScope>& scopes_of(const UsageKey& usage_key);

 private:
  const Accounting& records_;
  const Partitions& partitions_;
  std::map<UsageKey, std::vector<LimitScope>> scopes_;
  std::map<UsageKey, LimitSet> limit_sets_;
};

}  // namespace ares::core
