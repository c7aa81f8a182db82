// Refuses jobs that are to notify webhooks which do not exist or are for others. Pure; any thread. A repeated request that was accepted
// must not be checked again: ares.yaml may have changed.
#pragma once

#include <string>

#include "base/result.h"
#include "config/values.h"
#include "model/engine/command.h"

namespace ares::aresctld {

// invalid_argument: the text names the webhook and those that the user may choose. A bad mail address is no error: it costs the mail,
// not the job.
Status check_webhooks(const UserBody& body, const config::NotifyConfig& notify,
                      const std::string& user);

}  // namespace ares::aresctld
