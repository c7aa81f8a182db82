// Why `create` and `delete` refuse partitions, with the lines of ares.yaml that have their place. Pure but for the clock; any
// thread.
#pragma once

#include <optional>

#include "actl/assign.h"

namespace ares::actl {

// The operands of `create`: "partitionname=debug nodes=n[1-2]". None: they are about something else.
std::optional<Error> refuse_new_partition(const Words& words);
// The operands of `delete`.
std::optional<Error> refuse_deletion(const Words& words);

}  // namespace ares::actl
