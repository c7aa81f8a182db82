#include "core/accounts/job_limits.h"

#include <set>

#include "base/duration.h"
#include "base/saturating.h"
#include "core/accounts/limit_reasons.h"

namespace ares::core {
namespace {

std::uint64_t counted(const Asked& asked, LimitKind kind, std::string_view tres) {
  if (kind == LimitKind::max_tres_per_node) return asked.on_a_node(tres);
  if (kind == LimitKind::max_tres_mins_per_job) return asked.amount_minutes(tres);
  return asked.amount(tres);
}

// Goes through whose limits hold, the nearest first, and keeps to the first of each kind and TRES.
class Search {
 public:
  explicit Search(const Asked& asked) : asked_(asked) {}

  std::optional<OverLimit> look(const Limits& limits, const std::string& whose, bool qos) {
    for (const Limit& limit : limits) {
      if (!is_of_one_job(limit.kind) || !seen_.emplace(limit.kind, limit.tres).second) continue;
      if (auto over =
              limit.kind == LimitKind::max_wall ? wall(limit, whose, qos) : tres(limit, whose, qos))
        return over;
    }
    return std::nullopt;
  }

 private:
  std::optional<OverLimit> wall(const Limit& limit, const std::string& whose, bool qos) const {
    if (asked_.minutes() <= limit.value) return std::nullopt;
    return OverLimit{reason_name(limit.kind, {}, qos),
                     "MaxWall of " + whose + " is " +
                         format_duration(Seconds(static_cast<std::int64_t>(limit.value) * 60)) +
                         ", the job's time limit " + format_time_limit(asked_.time_limit)};
  }

  std::optional<OverLimit> tres(const Limit& limit, const std::string& whose, bool qos) const {
    const std::uint64_t wanted = counted(asked_, limit.kind, limit.tres);
    const std::uint64_t bound = capped_product(limit.value, units_of(limit.tres));
    const bool least = limit.kind == LimitKind::min_tres_per_job;
    if (least ? wanted >= bound : wanted <= bound) return std::nullopt;
    return OverLimit{reason_name(limit.kind, limit.tres, qos),
                     std::string(row_of(limit.kind).name) + " of " + whose + " is " + limit.tres +
                         "=" + amount_text(limit.tres, bound) + ", the job " +
                         (asked_.gets ? "would get " : "asks for ") +
                         amount_text(limit.tres, wanted)};
  }

  const Asked& asked_;
  std::set<std::pair<LimitKind, std::string>> seen_;
};

}  // namespace

bool is_of_one_job(LimitKind kind) {
  using enum LimitKind;
  return kind == max_tres_per_job || kind == max_tres_mins_per_job || kind == max_tres_per_node ||
         kind == max_wall || kind == min_tres_per_job;
}

const Qos* qos_of(const Accounting& records, const JobSpec& spec) {
  return find_qos(records, spec.qos.empty() ? kNormalQos : spec.qos);
}

std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce,
                                    const Asked& asked) {
  if (enforce < Enforce::limits || records.empty()) return std::nullopt;
  Search search(asked);
  const JobSpec& spec = asked.spec;
  const Qos* qos = qos_of(records, spec);
  std::optional<OverLimit> over;
  if (qos) over = search.look(qos->limits, "QOS " + qos->name, true);
  if (!over)
    each_terms(chain_of(records, spec.account, spec.user, asked.partition.name),
               [&](const Terms& terms, const std::string& name) {
                 over = search.look(terms.limits, name, false);
                 return !over;
               });
  if (over) over->refuse = qos && qos->has(QosFlag::deny_on_limit);
  return over;
}

}  // namespace ares::core
