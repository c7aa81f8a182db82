// What of webhooks is shown. A URL is often a secret: who knows it can send to that place. Pure; any thread.
#pragma once

#include <string>

#include "config/values.h"

namespace ares::config {

// With a digest in place of what follows the host of each URL, so that a change is seen and the URL is not: for logs and lists of changes.
NotifyConfig without_urls(NotifyConfig notify);

// The same, and only the webhooks that the user may choose.
NotifyConfig visible_to(NotifyConfig notify, const std::string& user);

// Whether that user may choose it.
bool may_choose(const WebhookConfig& webhook, const std::string& user);

}  // namespace ares::config
