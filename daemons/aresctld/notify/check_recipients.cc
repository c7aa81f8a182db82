#include "aresctld/notify/check_recipients.h"

#include <unistd.h>

#include <set>

#include "aresctld/notify/sender_command.h"
#include "aresctld/specs_of.h"
#include "model/job/mail.h"

namespace ares::aresctld {

namespace {

// Who will be told: the caller, or the users of the jobs that are changed.
std::set<std::string> users_of(const UserBody& body, const std::string& caller,
                               const ClusterState& state) {
  std::set<std::string> users;
  if (const auto* update = std::get_if<UpdateJob>(&body))
    for (const JobKey& key : update->jobs.keys) {
      const Job* job = state.jobs.find(key);
      if (!job) job = state.jobs.find(JobKey{key.job, {}});
      if (job) users.insert(job->spec->user);
    }
  if (users.empty()) users.insert(caller);
  return users;
}

}  // namespace

Status check_webhooks(const UserBody& body, const config::NotifyConfig& notify,
                      const std::string& user, const ClusterState& state) {
  Status good;
  for_each_spec(body, [&](const std::shared_ptr<const JobSpec>& spec) {
    if (!good || spec->mail_user.empty()) return;
    for (const std::string& name : recipients_of(spec->mail_user).webhooks)
      for (const std::string& told : users_of(body, user, state))
        if (const auto hook = webhook_for(notify, name, told); !hook)
          good = fail(ErrorCode::invalid_argument, "--mail-user: " + hook.error().message);
  });
  return good;
}

std::string mail_warning(const UserBody& body, const config::Config& config) {
  if (std::holds_alternative<UpdateJob>(body) || !config.notify.smtp.server.empty()) return "";
  bool asks = false;
  for_each_spec(body, [&](const std::shared_ptr<const JobSpec>& spec) {
    asks = asks || (spec->mail_types != 0 && !recipients_of(mail_address(*spec)).addresses.empty());
  });
  const std::string& program = config.controller.mail_program;
  if (!asks || (!program.empty() && ::access(program.c_str(), X_OK) == 0)) return "";
  return "no mail will be sent: this site has " +
         (program.empty() ? "no mail program" : "no mail program " + program);
}

}  // namespace ares::aresctld
