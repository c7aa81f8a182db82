// What asub says of a submission that failed: whether its jobs may be there nevertheless, and how to go on without a second copy.
// Pure functions; any thread.
#pragma once

#include <string>

#include "asub/batch.h"
#include "base/result.h"

namespace ares::asub {

// Whether the controller may have carried the request out although no answer says so.
bool may_be_done(const Error& error);

Error failure_of_one(const Error& error, const std::string& request_id);

// Of a batch of the file `name`; `id` is the whole call's.
Error failure_of_batch(const Error& error, const std::string& name, const Batch& batch,
                       const std::string& id);

}  // namespace ares::asub
