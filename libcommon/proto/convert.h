// Job specifications and identities between the model and the wire (api.proto).
// Pure functions; any thread. from_api accepts any input and returns a value or an error
// that names the field.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "model/job/job.h"

namespace ares::api {
class AttemptKey;
class Checkpoint;
class Restored;
class Dependency;
class JobRef;
class JobSpec;
}  // namespace ares::api

namespace ares::proto {

void to_api(const JobKey& key, api::JobRef* out);
Result<JobKey> from_api(const api::JobRef& ref);

void to_api(const Dependency& dependency, api::Dependency* out);

void to_api(const AttemptKey& key, api::AttemptKey* out);
Result<AttemptKey> from_api(const api::AttemptKey& key);

void to_api(const Checkpoint& checkpoint, api::Checkpoint* out);
void to_api(const Restored& restored, api::Restored* out);
// invalid_argument: no digest of 32 bytes, no sequence, or a place that is not an absolute path.
Result<Checkpoint> from_api(const api::Checkpoint& checkpoint);
Restored from_api(const api::Restored& restored);

void to_api(const JobSpec& spec, api::JobSpec* out);

// invalid_argument: a negative size or time, a text that is too long or has control characters, a
// digest that is not 32 bytes, a malformed array. The site's limits are not checked. An absent
// `requeue` becomes `requeue_default`. An empty digest becomes all zero (none). A time limit of 0
// seconds means unlimited, as in the API.
Result<JobSpec> from_api(const api::JobSpec& spec, bool requeue_default = true);

}  // namespace ares::proto
