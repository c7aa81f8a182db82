// Messages of asub for a failed submission: whether its jobs may exist nevertheless, and how to
// continue without submitting them twice. Pure functions; any thread.
#pragma once

#include <string>

#include "asub/batch.h"
#include "base/result.h"

namespace ares::asub {

// Whether the controller may have executed the request although no response arrived.
bool may_be_done(const Error& error);

Error failure_of_one(const Error& error, const std::string& request_id);

// The error of a batch of the file `name`; `id` is the id of the whole call.
Error failure_of_batch(const Error& error, const std::string& name, const Batch& batch,
                       const std::string& id);

}  // namespace ares::asub
