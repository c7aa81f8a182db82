// Checkpoints between the model and the wire.
#include "model/job/checkpoint_place.h"
#include "proto/api_reader.h"
#include "proto/convert.h"
#include "proto/gen/api.pb.h"

namespace ares::proto {

void to_api(const Checkpoint& checkpoint, api::Checkpoint* out) {
  out->set_sequence(checkpoint.sequence);
  out->set_attempt(checkpoint.attempt.value());
  out->set_manifest(std::string(checkpoint.manifest.begin(), checkpoint.manifest.end()));
  out->set_size(checkpoint.size.value());
  out->set_uri(checkpoint.uri);
  out->set_at(checkpoint.at.time_since_epoch().count());
}

Result<Checkpoint> from_api(const api::Checkpoint& in) {
  Reader read("checkpoint");
  Checkpoint out;
  out.sequence = in.sequence();
  if (in.sequence() == 0) read.reject("sequence", "is missing");
  out.attempt = AttemptNo(in.attempt());
  if (in.manifest().empty()) read.reject("manifest", "is missing");
  read.digest("manifest", in.manifest(), out.manifest);
  read.bytes("size", in.size(), out.size);
  read.text("uri", in.uri(), TextKind::path, out.uri);
  if (!is_checkpoint_place(in.uri())) read.reject("uri", "is not an absolute path or an S3 URI");
  read.time("at", in.at(), out.at);
  return read.finish(std::move(out));
}

void to_api(const Restored& restored, api::Restored* out) {
  out->set_attempt(restored.attempt.value());
  out->set_sequence(restored.sequence);
  out->set_passed_over(restored.passed_over);
}

Restored from_api(const api::Restored& in) {
  return {AttemptNo(in.attempt()), in.sequence(), in.passed_over()};
}

}  // namespace ares::proto
