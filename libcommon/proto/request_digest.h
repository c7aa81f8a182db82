// Digest that distinguishes a repeated request from a different one with the same id.
// Pure functions; any thread.
#pragma once

#include "model/engine/request.h"

namespace ares::api {
class Request;
}  // namespace ares::api

namespace ares::proto {

// SHA-256 over the request's body, fields in the order of their numbers. Left out: request_id and
// client_version, and in submissions (single or many) what the user did not write, which
// model/job/spec_fields.def calls ambient: the environment (content and digest), submit_dir,
// submit_host, submit_zone, umask, limits; also uid, gid and user, which come from the credential.
// work_dir is included: another one means that the job runs elsewhere.
Digest request_digest(const api::Request& request);

}  // namespace ares::proto
