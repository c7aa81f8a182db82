// Converts requests about accounts, users, associations, QOS and wckeys to engine commands, and
// lists these records. Belongs to commands.h. Pure; any thread.
#pragma once

#include "aresctld/engine/view.h"
#include "base/result.h"
#include "model/engine/command.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

Result<UserBody> to_change_accounting(const api::ChangeAccounting& from);
Result<UserBody> to_reset_usage(const api::ResetUsage& from);

// Adds the parent of each account, for reports that sum over the account tree.
void put_parents(const View& view, api::Reported& out);

}  // namespace ares::aresctld
