#include "aresctld/notify/check_webhooks.h"

#include "aresctld/notify/sender_command.h"
#include "aresctld/specs_of.h"
#include "model/job/mail.h"

namespace ares::aresctld {

Status check_webhooks(const UserBody& body, const config::NotifyConfig& notify,
                      const std::string& user) {
  Status good;
  for_each_spec(body, [&](const std::shared_ptr<const JobSpec>& spec) {
    if (!good || spec->mail_user.empty()) return;
    for (const std::string& name : recipients_of(spec->mail_user).webhooks)
      if (const auto hook = webhook_for(notify, name, user); !hook)
        good = fail(ErrorCode::invalid_argument, "--mail-user: " + hook.error().message);
  });
  return good;
}

}  // namespace ares::aresctld
