// Checkpoints: of the records of jobs, and the event.
#include "proto/storage_events.h"
#include "proto/storage_records.h"

namespace ares::proto {

void put(const Checkpoint& from, storage::Checkpoint& to) {
  to.set_sequence(from.sequence);
  to.set_attempt(from.attempt.value());
  to.set_manifest(to_bytes(from.manifest));
  to.set_size(from.size.value());
  to.set_uri(from.uri);
  to.set_at(micros(from.at));
  to.set_suspended(from.suspended.count());
}

Checkpoint get(const storage::Checkpoint& from, DecodeErrors& errors) {
  Checkpoint to;
  to.sequence = from.sequence();
  to.attempt = AttemptNo(from.attempt());
  to.manifest = to_digest<32>(from.manifest(), "the digest of a checkpoint", errors);
  to.size = Bytes(from.size());
  to.uri = from.uri();
  to.at = to_time(from.at());
  to.suspended = Duration(from.suspended());
  return to;
}

void put(const CheckpointCommitted& from, storage::CheckpointCommitted& to) {
  put(from.attempt, *to.mutable_attempt());
  put(from.checkpoint, *to.mutable_checkpoint());
}

CheckpointCommitted get(const storage::CheckpointCommitted& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), get(from.checkpoint(), errors)};
}

void put(const Restored& from, storage::Restored& to) {
  to.set_attempt(from.attempt.value());
  to.set_sequence(from.sequence);
  to.set_passed_over(from.passed_over);
}

Restored get(const storage::Restored& from, DecodeErrors&) {
  return {AttemptNo(from.attempt()), from.sequence(), from.passed_over()};
}

void put(const CheckpointRestored& from, storage::CheckpointRestored& to) {
  put(from.attempt, *to.mutable_attempt());
  put(from.restored, *to.mutable_restored());
}

CheckpointRestored get(const storage::CheckpointRestored& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), get(from.restored(), errors)};
}

}  // namespace ares::proto
