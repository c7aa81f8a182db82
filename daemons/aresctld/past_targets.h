// Dependencies on jobs that the controller has forgotten: what became of these is in accounting. Such a dependency is removed from the
// command where it is met, so that the engine, which reads no database, has nothing to decide. One that is not met stays: the engine refuses
// it, and the reason is added to its answer. Nothing is refused here, because the command may be the repetition of one that was accepted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aresctld/engine/view.h"
#include "base/ids.h"
#include "base/result.h"
#include "model/engine/command.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// Jobs and tasks that the command depends on with afterok or afternotok, and that the view has not. Each once; empty for most commands.
std::vector<JobKey> past_targets(const UserBody& body, const View& view, const Policy& policy,
                                 Time now);

// Reads accounting; may block on the database.
using ReadAccounting = std::function<Result<api::AccountingRows>(const api::Accounting&)>;

// Removes what is met. Returns what accounting knows of the others, to be added to a refusal; empty: nothing.
std::string answer_from_past(UserBody& body, const std::vector<JobKey>& targets,
                             const ReadAccounting& read);

}  // namespace ares::aresctld
