#include "exec/kubernetes/agent/lease/lease_object.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/api/rfc3339.h"

namespace ares::kubernetes {

LeasePlace lease_place(const std::string& space, const std::string& cluster) {
  return {space, "ares-" + cluster, cluster};
}

Result<LeaseRecord> read_lease(std::string_view body) {
  const Result<Json> object = parse_object(body, "the lease");
  if (!object) return fail(object.error());
  LeaseRecord record;
  record.version = text_at(*object, {"metadata", "resourceVersion"});
  if (record.version.empty())
    return fail(ErrorCode::invalid_argument, "the lease has no resource version");
  record.holder = text_at(*object, {"spec", "holderIdentity"});
  // At most an hour: another program may have written anything.
  const std::int64_t seconds = number_at(*object, {"spec", "leaseDurationSeconds"}).value_or(0);
  record.duration = Seconds(std::clamp<std::int64_t>(seconds, 0, 3600));
  const std::int64_t transitions = number_at(*object, {"spec", "leaseTransitions"}).value_or(0);
  record.transitions = static_cast<std::uint64_t>(std::max<std::int64_t>(transitions, 0));
  return record;
}

std::string lease_body(const WriteLease& write, const LeasePlace& place, Duration duration,
                       Time acquired, Time now) {
  Json metadata{{"name", place.name},
                {"namespace", place.space},
                {"labels", {{"ares.io/cluster", place.cluster}}}};
  if (!write.version.empty()) metadata["resourceVersion"] = write.version;
  Json spec{{"leaseDurationSeconds", std::chrono::duration_cast<Seconds>(duration).count()},
            {"leaseTransitions", write.transitions},
            {"renewTime", format_micro_time(now)}};
  // Newer servers refuse an empty name.
  if (!write.holder.empty()) {
    spec["holderIdentity"] = write.holder;
    spec["acquireTime"] = format_micro_time(acquired);
  }
  return Json{{"apiVersion", "coordination.k8s.io/v1"},
              {"kind", "Lease"},
              {"metadata", std::move(metadata)},
              {"spec", std::move(spec)}}
      .dump();
}

}  // namespace ares::kubernetes
