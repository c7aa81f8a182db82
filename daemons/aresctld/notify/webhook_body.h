// What a webhook is told about a job. Pure except for the process's time zone; any thread.
#pragma once

#include <string>

#include "config/values.h"
#include "core/job/effects/notices.h"

namespace ares::aresctld {

// BEGIN, END, FAIL, REQUEUE, INVALID_DEPEND, TIME_LIMIT or TIME_LIMIT_50, as asub --mail-type names them.
std::string event_name(const core::Notice& notice);

// A JSON object: for `json` version, delivery, cluster, event, time, text and job, see ares-notify(7); for `slack` text alone.
std::string webhook_body(const core::Notice& notice, config::WebhookFormat format,
                         const std::string& cluster, const std::string& delivery);

}  // namespace ares::aresctld
