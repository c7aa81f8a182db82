// The loaded server library of PMIx. It stays loaded until the process ends, since its threads and
// exit handlers do not survive that it is unloaded. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "mpi/pmix/api.h"

namespace ares::mpi::pmix {

// not_found: there is no such library; failed_precondition: it is of a version whose structs are not
// known here, or lacks an entry point.
Result<Api> load(const std::string& library);

// Whether the structs of api.h are those of a library that calls itself this,
// "OpenPMIx 4.2.2 (...)".
bool is_known_version(std::string_view version);

// "PMIX_ERR_NOT_FOUND (-46)".
std::string describe(const Api& api, PmixStatus status);

}  // namespace ares::mpi::pmix
