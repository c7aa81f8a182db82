// Which program sends a message, and what it is given. Pure except for the process's time zone; any thread.
#pragma once

#include <string>
#include <vector>

#include "aresctld/notify/delivery_queue.h"
#include "base/result.h"
#include "config/values.h"

namespace ares::aresctld {

// What does not change while the controller runs.
struct SenderSite {
  std::string notify_program;  // the path of ares-notify
  std::string host;            // of the controller
  std::string instance;        // of this process: makes the ids of messages unique
};

struct SenderCommand {
  std::vector<std::string> words;  // empty: this site sends no mail
  std::string input;
  bool is_notify = false;  // it is ares-notify, which says what became of the message
  std::string target;      // for logs: the mail server, the mail program, or the webhook
};

// not_found: there is no such webhook any longer. permission_denied: it is not for the job's user.
Result<SenderCommand> sender_command(const Delivery& delivery, const config::Config& config,
                                     const SenderSite& site);

// not_found, permission_denied: the same for a webhook that a user chooses; the text names those that the user may choose.
Result<const config::WebhookConfig*> webhook_for(const config::NotifyConfig& notify,
                                                 const std::string& name, const std::string& user);

}  // namespace ares::aresctld
