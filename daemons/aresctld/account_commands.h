// Requests about accounts, users, associations, QOS and wckeys: from what a client sends to what the engine decides on, and how
// they are listed. The part of commands.h that is about them. Pure; any thread.
#pragma once

#include "aresctld/engine/view.h"
#include "base/result.h"
#include "model/engine/command.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

Result<UserBody> to_change_accounting(const api::ChangeAccounting& from);
Result<UserBody> to_reset_usage(const api::ResetUsage& from);

// Which account is below which, for reports that sum up the tree.
void put_parents(const View& view, api::Reported& out);

}  // namespace ares::aresctld
