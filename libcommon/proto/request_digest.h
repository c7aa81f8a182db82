// What tells a repeated request from another one under the same id.
// Pure functions; any thread.
#pragma once

#include "model/engine/request.h"

namespace ares::api {
class Request;
}  // namespace ares::api

namespace ares::proto {

// SHA-256 over the request's body, fields in the order of their numbers. Left out: request_id and
// client_version; of a submission, and of each of many, also what the surroundings add and the user did not write: the
// environment (content and digest), submit_dir, submit_host, submit_zone, umask, limits; and uid,
// gid and user, which are the credential's, not the request's. work_dir counts: the job would run
// elsewhere.
Digest request_digest(const api::Request& request);

}  // namespace ares::proto
