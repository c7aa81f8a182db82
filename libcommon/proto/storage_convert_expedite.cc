// Storage of the expedited return of failed jobs.
#include "proto/storage_events.h"
#include "proto/storage_records.h"

namespace ares::proto {

void put(const ExpeditedReturn& from, storage::ExpeditedReturn& to) {
  put_ids(from.nodes, to.mutable_nodes());
  to.set_until(micros(from.until));
}

ExpeditedReturn get(const storage::ExpeditedReturn& from, DecodeErrors&) {
  return {get_ids<NodeId>(from.nodes()), to_time(from.until())};
}

void put(const ExpediteBegan& from, storage::ExpediteBegan& to) {
  put(from.attempt, *to.mutable_attempt());
  put(from.expedited, *to.mutable_expedited());
  to.set_returns(from.returns);
}

ExpediteBegan get(const storage::ExpediteBegan& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), get(from.expedited(), errors), from.returns()};
}

void put(const ExpediteExpired& from, storage::ExpediteExpired& to) {
  put(from.key, *to.mutable_key());
}

ExpediteExpired get(const storage::ExpediteExpired& from, DecodeErrors& errors) {
  return {get(from.key(), errors)};
}

}  // namespace ares::proto
