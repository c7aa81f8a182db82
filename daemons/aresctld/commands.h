// Converts client requests to engine commands. Only the form of a request is checked here; decide()
// checks whether it is allowed. Pure except for the lookup of user names; gRPC threads.
#pragma once

#include "aresctld/identity.h"
#include "base/result.h"
#include "model/engine/command.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// invalid_argument with a text for the user where the request is malformed.
Result<UserBody> to_command(const Principal& caller, const Policy& policy,
                            const api::Request& request, Identity& identity);

// The job that a submission asks for, its identity taken from the caller.
Result<Submit> to_submission(const Principal& caller, const Policy& policy,
                             const api::Submit& from);

}  // namespace ares::aresctld
