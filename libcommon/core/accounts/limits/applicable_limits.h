// Who bounds whom: the limits on many jobs together (Grp*, MaxJobs, MaxSubmitJobs, those per user and per account of a QOS) that hold
// for a job, and with whose jobs each of them counts it.
// Made for records that stay as they are for as long as it lives; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/accounts/binding_qos.h"
#include "core/accounts/limits/limit_reasons.h"
#include "model/accounts/current_usage.h"

namespace ares::core {

// What such a limit is compared with, and on whose jobs together, of those that the record is about.
enum class Measure : std::uint8_t { running, submitted, accruing, tres, run_minutes, used_minutes };
enum class CountedPer : std::uint8_t { all, user, account };
struct SharedKind {
  LimitKind kind;
  Measure measure;
  CountedPer per;
};
// Null: the kind is of one job by itself, or of no amount.
const SharedKind* shared_kind(LimitKind kind);

using Partitions = CowMap<std::string, Partition>;

// Whether any such limit may keep jobs like that from starting in that partition, whatever they do themselves.
bool has_shared_limits(const Accounting& records, Enforce enforce, const JobSpec& spec,
                       const Partition& partition);
// Whether any of that measure holds for them.
bool has_limits_on(Measure measure, const Accounting& records, const Partitions& partitions,
                   Enforce enforce, const UsageKey& who);

// Whoever runs jobs like that in that partition.
UsageKey usage_key_of(const JobSpec& spec, const std::string& partition);

class ApplicableLimits {
 public:
  // Whose jobs are summed up.
  struct LimitScope {
    enum class Kind : std::uint8_t { association, account, qos, qos_user, qos_account };
    Kind kind{};
    std::string name, second;  // the account; the QOS, and the user or account in it
    AssociationId id{};        // of the association, the account or the QOS
    friend auto operator<=>(const LimitScope&, const LimitScope&) = default;
  };
  // One limit on jobs of a party, and what it bounds.
  struct LimitBound {
    const Limit* limit = nullptr;
    LimitScale scale;
    const SharedKind* shared = nullptr;
    LimitScope scope;
    std::string whose;
    bool qos = false;
  };
  // All jobs of one holder are bound by the same.
  struct LimitSet {
    std::vector<LimitBound> bounds;  // those of the QOS first, then the nearest
    bool deny = false;
    // Those of its QOS that let nobody start whose fair share is below their threshold, and how they are told of.
    std::vector<std::pair<const Qos*, std::string>> thresholds{};
    std::uint64_t factor = 0;  // thousandths that usage is charged with: of its own QOS
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
