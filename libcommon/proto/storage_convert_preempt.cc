// Storage of preemption: which job preempted an attempt, and the claims of preemptors.
#include "proto/storage_records.h"

namespace ares::proto {

void put(const Preempted& from, storage::Preempted& to) {
  put(from.by, *to.mutable_by());
  to.set_at(micros(from.at));
  to.set_grace(from.grace.count());
}

Preempted get(const storage::Preempted& from, DecodeErrors& errors) {
  return {get(from.by(), errors), to_time(from.at()), Seconds(from.grace())};
}

void put(const PreemptionClaim& from, storage::Earmark& to) {
  to.set_partition(from.partition);
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  put_messages(from.nodes, to.mutable_nodes());
  put_messages(from.licenses, to.mutable_licenses());
  put_messages(from.victims, to.mutable_victims());
  to.set_at(micros(from.at));
  to.set_ready(micros(from.ready));
  to.set_until(micros(from.until));
}

PreemptionClaim get(const storage::Earmark& from, DecodeErrors& errors) {
  PreemptionClaim to;
  to.partition = from.partition();
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  to.nodes = NodeShares(get_messages<NodeShare>(from.nodes(), errors));
  to.licenses = get_messages<LicenseRequest>(from.licenses(), errors);
  to.victims = get_messages<AttemptKey>(from.victims(), errors);
  to.at = to_time(from.at());
  to.ready = to_time(from.ready());
  to.until = to_time(from.until());
  return to;
}

}  // namespace ares::proto
