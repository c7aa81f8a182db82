#include "aresctld/notify/sender_command.h"

#include <algorithm>

#include "aresctld/notify/mail_text.h"
#include "aresctld/notify/webhook_body.h"
#include "base/printable.h"
#include "config/shown_webhooks.h"
#include "model/job/mail.h"
#include "notify/message/message.h"

namespace ares::aresctld {
namespace {

notify::Tls tls_of(config::SmtpTls tls) {
  switch (tls) {
    case config::SmtpTls::if_offered: return notify::Tls::if_offered;
    case config::SmtpTls::none: return notify::Tls::none;
    case config::SmtpTls::required: break;
  }
  return notify::Tls::required;
}

std::string id_of(const Delivery& delivery, const SenderSite& site) {
  return site.instance + "-" + std::to_string(delivery.number);
}

notify::Mail mail_of(const Delivery& delivery, const config::SmtpConfig& smtp,
                     const SenderSite& site) {
  const core::Notice& notice = delivery.notice;
  MailText text = mail_text(notice);
  notify::Mail mail;
  mail.server = smtp.server;
  mail.tls = tls_of(smtp.tls);
  mail.user = smtp.user;
  mail.password_file = smtp.password_file;
  mail.ca_file = smtp.ca_file;
  mail.helo = smtp.helo.empty() ? site.host : smtp.helo;
  mail.from = smtp.from.empty() ? "ares@" + site.host : smtp.from;
  for (const std::string& address : recipients_of(notice.address).addresses)
    mail.to.push_back(address.find('@') == std::string::npos && !smtp.mail_domain.empty()
                          ? address + "@" + smtp.mail_domain
                          : address);
  mail.id = id_of(delivery, site) + "@" + site.host;
  mail.date = std::chrono::floor<Seconds>(notice.at).time_since_epoch().count();
  mail.subject = std::move(text.subject);
  mail.body = std::move(text.body);
  return mail;
}

notify::Webhook webhook_message(const Delivery& delivery, const config::WebhookConfig& hook,
                                const std::string& cluster, const SenderSite& site) {
  const std::string id = id_of(delivery, site);
  return {hook.url,
          id,
          event_name(delivery.notice),
          webhook_body(delivery.notice, hook.format, cluster, id),
          hook.token_file,
          hook.secret_file,
          hook.ca_file,
          hook.proxy};
}

}  // namespace

Result<const config::WebhookConfig*> webhook_for(const config::NotifyConfig& notify,
                                                 const std::string& name, const std::string& user) {
  std::string choices;
  for (const config::WebhookConfig& hook : notify.webhooks) {
    if (!config::may_choose(hook, user)) {
      if (hook.name == name)
        return fail(ErrorCode::permission_denied,
                    "user " + user + " may not choose the webhook " + quote(name));
      continue;
    }
    if (hook.name == name) return &hook;
    choices += (choices.empty() ? "" : ", ") + hook.name;
  }
  return fail(ErrorCode::not_found,
              "there is no webhook " + quote(name) + " in ares.yaml" +
                  (choices.empty() ? std::string() : "; use one of " + excerpt(choices)));
}

Result<SenderCommand> sender_command(const Delivery& delivery, const config::Config& config,
                                     const SenderSite& site) {
  SenderCommand command;
  if (!delivery.webhook.empty()) {
    const auto hook = webhook_for(config.notify, delivery.webhook, delivery.notice.user);
    if (!hook) return fail(hook.error());
    command.words = {site.notify_program};
    command.input =
        notify::to_json(webhook_message(delivery, **hook, config.policy.cluster_name, site));
    command.is_notify = true;
    command.target = "webhook " + delivery.webhook;
    return command;
  }
  if (!config.notify.smtp.server.empty()) {
    command.words = {site.notify_program};
    command.input = notify::to_json(mail_of(delivery, config.notify.smtp, site));
    command.is_notify = true;
    command.target = "mail server " + config.notify.smtp.server;
    return command;
  }
  const std::string& program = config.controller.mail_program;
  command.target = program;
  if (program.empty()) return command;
  MailText text = mail_text(delivery.notice);
  command.words = {program, "-s", std::move(text.subject), delivery.notice.address};
  command.input = std::move(text.body);
  return command;
}

}  // namespace ares::aresctld
