#include "core/accounts/limits/job_limits.h"

#include <set>

#include "base/duration.h"
#include "base/saturating.h"
#include "core/accounts/limits/limit_reasons.h"

namespace ares::core {
namespace {

std::uint64_t counted(const RequestedTres& requested, LimitKind kind, std::string_view tres) {
  if (kind == LimitKind::max_tres_per_node) return requested.on_a_node(tres);
  if (kind == LimitKind::max_tres_mins_per_job) return requested.amount_minutes(tres);
  return requested.amount(tres);
}

// Checks limits from the nearest record on; only the first of each kind and TRES counts.
class Search {
 public:
  Search(const RequestedTres& requested, ClusterTotals& cluster_totals)
      : requested_(requested), cluster_totals_(cluster_totals) {}

  // `scale_of(limit)`: how the limit is to be read.
  template <class ScaleOf>
  std::optional<OverLimit> look(const Limits& limits, const std::string& whose, bool qos,
                                ScaleOf&& scale_of) {
    for (const Limit& limit : limits) {
      if (!is_of_one_job(limit.kind) || !seen_.emplace(limit.kind, limit.tres).second) continue;
      if (auto over = limit.kind == LimitKind::max_wall ? wall(limit, whose, qos)
                                                        : tres(limit, scale_of(limit), whose, qos))
        return over;
    }
    return std::nullopt;
  }

 private:
  std::optional<OverLimit> wall(const Limit& limit, const std::string& whose, bool qos) const {
    if (requested_.minutes() <= limit.value) return std::nullopt;
    return OverLimit{reason_name(limit.kind, {}, qos),
                     "MaxWall of " + whose + " is " + limit_text(limit) +
                         ", the job's time limit " + format_time_limit(requested_.time_limit)};
  }

  std::optional<OverLimit> tres(const Limit& limit, const LimitScale& scale,
                                const std::string& whose, bool qos) const {
    const std::uint64_t wanted = counted(requested_, limit.kind, limit.tres);
    const std::uint64_t bound = most_of(limit, scale, cluster_totals_);
    const bool least = limit.kind == LimitKind::min_tres_per_job;
    if (least ? wanted >= bound : wanted <= bound) return std::nullopt;
    return OverLimit{reason_name(limit.kind, limit.tres, qos),
                     std::string(row_of(limit.kind).name) + " of " + whose + " is " +
                         limit_text(limit, scale, cluster_totals_) + ", the job " +
                         (requested_.allocated_tres ? "would get " : "asks for ") +
                         amount_text(limit.tres, wanted)};
  }

  const RequestedTres& requested_;
  ClusterTotals& cluster_totals_;
  std::set<std::pair<LimitKind, std::string>> seen_;
};

}  // namespace

bool is_of_one_job(LimitKind kind) {
  using enum LimitKind;
  return kind == max_tres_per_job || kind == max_tres_mins_per_job || kind == max_tres_per_node ||
         kind == max_wall || kind == min_tres_per_job;
}

std::optional<OverLimit> over_limit(const Accounting& records, Enforce enforce,
                                    const RequestedTres& requested, ClusterTotals& cluster_totals) {
  if (enforce < Enforce::limits || records.empty()) return std::nullopt;
  const JobSpec& spec = requested.spec;
  const std::string& partition = requested.partition.name;
  const BindingQos binding = binding_qos(records, qos_name(spec), &requested.partition);
  Search search(requested, cluster_totals);
  std::optional<OverLimit> over;
  bool deny = false;
  for (const Qos* qos : binding.in_order()) {
    if (!qos) break;
    deny = deny || qos->has(QosFlag::deny_on_limit);
    if (over) continue;
    const std::string of = qos == binding.of_partition ? partition : std::string();
    over = search.look(qos->limits, qos_text(*qos, binding, partition), true,
                       [&](const Limit& limit) { return qos_scale(limit, *qos, of); });
  }
  if (!over)
    each_terms(chain_of(records, spec.account, spec.user, partition),
               [&](const Terms& terms, const std::string& name) {
                 over = search.look(terms.limits, name, false, [&](const Limit& limit) {
                   return account_scale(limit, binding.own);
                 });
                 return !over;
               });
  if (over) over->refuse = deny;
  return over;
}

}  // namespace ares::core
