// Identities of jobs and attempts between the model and the wire.
#include "proto/convert.h"

#include <utility>

#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"

namespace ares::proto {

void to_api(const JobKey& key, api::JobRef* out) {
  out->set_job(key.job.value());
  if (!key.task.is_none()) out->set_task(key.task.value);
}

Result<JobKey> from_api(const api::JobRef& ref) {
  if (ref.job() == 0) return fail(ErrorCode::invalid_argument, "job id 0 is none");
  JobKey key{JobId(ref.job()), {}};
  if (ref.has_task()) {
    if (ref.task() == TaskIndex::kNone)
      return fail(ErrorCode::invalid_argument, "array task index is out of range");
    key.task = TaskIndex{ref.task()};
  }
  return key;
}

void to_api(const AttemptKey& key, api::AttemptKey* out) {
  to_api(key.job, out->mutable_job());
  out->set_attempt(key.attempt.value());
}

Result<AttemptKey> from_api(const api::AttemptKey& key) {
  auto job = from_api(key.job());
  if (!job) return fail(std::move(job.error()));
  if (key.attempt() == 0) return fail(ErrorCode::invalid_argument, "attempt 0 is none");
  return AttemptKey{*job, AttemptNo(key.attempt())};
}

}  // namespace ares::proto
