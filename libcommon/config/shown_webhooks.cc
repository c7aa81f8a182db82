#include "config/shown_webhooks.h"

#include <algorithm>
#include <cstdio>

#include "base/fnv1a.h"

namespace ares::config {

bool may_choose(const WebhookConfig& webhook, const std::string& user) {
  return webhook.users.empty() ||
         std::find(webhook.users.begin(), webhook.users.end(), user) != webhook.users.end();
}

NotifyConfig without_urls(NotifyConfig notify) {
  for (WebhookConfig& webhook : notify.webhooks) {
    const std::size_t host = webhook.url.find("://") + 3;
    const std::size_t end = webhook.url.find_first_of("/?#", host);
    if (end == std::string::npos || end + 1 == webhook.url.size()) continue;
    char digest[17];
    std::snprintf(digest, sizeof digest, "%016llx",
                  static_cast<unsigned long long>(fnv1a(webhook.url)));
    webhook.url = webhook.url.substr(0, end) + "/..." + digest;
  }
  return notify;
}

NotifyConfig visible_to(NotifyConfig notify, const std::string& user) {
  std::erase_if(notify.webhooks,
                [&](const WebhookConfig& webhook) { return !may_choose(webhook, user); });
  return without_urls(std::move(notify));
}

}  // namespace ares::config
