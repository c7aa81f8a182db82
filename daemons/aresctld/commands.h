// Commands: from a client's request to what the engine decides on. Only shape is checked here;
// whether it may happen is decide()'s. Pure but for the user names it looks up; gRPC threads.
#pragma once

#include "aresctld/identity.h"
#include "base/result.h"
#include "model/engine/command.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// Whether this kind of request changes something and so goes through the engine.
bool is_mutating(const api::Request& request);

// invalid_argument with a text for the user where the request is malformed.
Result<UserBody> to_command(const Principal& caller, const Policy& policy,
                            const api::Request& request, Identity& identity);

// The job that a submission asks for, its identity taken from the caller.
Result<Submit> to_submission(const Principal& caller, const Policy& policy,
                             const api::Submit& from);

// "submit", "cancel": for logs.
std::string_view verb_of(const api::Request& request);

}  // namespace ares::aresctld
