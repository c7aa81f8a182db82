// Storage of suspended jobs.
#include "proto/storage_events.h"

namespace ares::proto {

void put(const Suspension& from, storage::Suspension& to) {
  to.set_at(micros(from.at));
  if (from.by) to.set_by(from.by->value());
  to.set_by_user(from.by_user);
  if (from.preempted_by) put(*from.preempted_by, *to.mutable_made_room_for());
}

Suspension get(const storage::Suspension& from, DecodeErrors& errors) {
  Suspension to;
  to.at = to_time(from.at());
  if (from.has_by()) to.by = UserId(from.by());
  to.by_user = from.by_user();
  if (from.has_made_room_for()) to.preempted_by = get(from.made_room_for(), errors);
  return to;
}

void put(const Suspended& from, storage::Suspended& to) {
  put(from.attempt, *to.mutable_attempt());
  if (from.by) to.set_by(from.by->value());
  to.set_by_user(from.by_user);
  if (from.preempted_by) put(*from.preempted_by, *to.mutable_made_room_for());
}

Suspended get(const storage::Suspended& from, DecodeErrors& errors) {
  Suspended to;
  to.attempt = get(from.attempt(), errors);
  if (from.has_by()) to.by = UserId(from.by());
  to.by_user = from.by_user();
  if (from.has_made_room_for()) to.preempted_by = get(from.made_room_for(), errors);
  return to;
}

void put(const Resumed& from, storage::Resumed& to) {
  put(from.attempt, *to.mutable_attempt());
  if (from.by) to.set_by(from.by->value());
}

Resumed get(const storage::Resumed& from, DecodeErrors& errors) {
  Resumed to;
  to.attempt = get(from.attempt(), errors);
  if (from.has_by()) to.by = UserId(from.by());
  return to;
}

}  // namespace ares::proto
