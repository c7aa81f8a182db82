// Who is to be told about jobs: webhooks that do not exist or are for others are refused, and mail that cannot be sent is a warning. A repeated
// request that was accepted must not be checked again: ares.yaml may have changed. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "config/values.h"
#include "model/engine/command.h"
#include "model/engine/state.h"

namespace ares::aresctld {

// invalid_argument: the text names the webhook and those that the user may choose. A bad mail address is no error: it costs the mail,
// not the job.
// A change of jobs is checked for the users of those that it names and that the state has.
Status check_webhooks(const UserBody& body, const config::NotifyConfig& notify,
                      const std::string& user, const ClusterState& state);

// Why no mail will be sent that a submission asks for; empty: it will, as far as is known. Looks at the file system.
std::string mail_warning(const UserBody& body, const config::Config& config);

}  // namespace ares::aresctld
