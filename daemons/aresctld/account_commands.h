// Requests about accounts, users, associations, QOS and wckeys: from what a client sends to what the engine decides on, and how
// they are listed. The part of commands.h that is about them. Pure; any thread.
#pragma once

#include "base/result.h"
#include "model/command.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

Result<UserBody> to_change_accounting(const api::ChangeAccounting& from);

}  // namespace ares::aresctld
