// The section `notify`: mail by SMTP and webhooks.
#include <algorithm>
#include <array>

#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

constexpr std::size_t kMostWebhooks = 1'000;
constexpr Seconds kLongestWait{30 * 24 * 3600};

// A choice among the names of an enumeration's values, in their order.
template <class Enum, std::size_t N>
Type<Enum> enum_type(const std::array<const char*, N>& names) {
  const std::vector<std::string> words(names.begin(), names.end());
  const auto choice = choice_type(words);
  return {choice.name,
          [words, choice](const Value& value) -> Result<Enum> {
            return choice.parse(value).map([&](const std::string& word) {
              return static_cast<Enum>(std::find(words.begin(), words.end(), word) - words.begin());
            });
          },
          [words](const Enum& value) { return words[static_cast<std::size_t>(value)]; }};
}

// SCHEME://HOST[:PORT] and, with `has_path`, what follows. It has no user and no password: they would be shown with the configuration.
Status check_url(const std::string& url, const std::vector<std::string>& schemes, bool has_path) {
  std::string expected;
  for (const std::string& scheme : schemes) {
    expected += (expected.empty() ? "" : " or ") + scheme + "://";
    if (!url.starts_with(scheme + "://")) continue;
    const std::string rest = url.substr(scheme.size() + 3);
    const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
    const std::string host = rest.substr(0, slash);
    if (host.empty() || host.front() == ':') return invalid(quote(url) + " has no host");
    if (host.find('@') != std::string::npos)
      return invalid("a URL with a user or a password; put a secret into a file of its own");
    if (slash < rest.size() && !has_path) return invalid(quote(url) + " has a path");
    if (std::any_of(url.begin(), url.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7f; }))
      return invalid(quote(url) + " holds a character that a URL cannot have");
    return {};
  }
  return invalid(quote(url) + " does not begin with " + expected);
}

Type<std::string> url_type(std::vector<std::string> schemes, bool has_path) {
  const auto text = text_type();
  return {
      "URL",
      [text, schemes = std::move(schemes), has_path](const Value& value) -> Result<std::string> {
        auto url = text.parse(value);
        if (!url || url->empty()) return url;
        if (const Status good = check_url(*url, schemes, has_path); !good)
          return fail(good.error());
        return url;
      },
      text.print};
}

// A text that becomes part of a header of mail or of a command of SMTP.
Type<std::string> mail_text_type(std::string name) {
  const auto text = text_type();
  return {std::move(name),
          [text](const Value& value) -> Result<std::string> {
            auto word = text.parse(value);
            if (word && std::any_of(word->begin(), word->end(), [](unsigned char c) {
                  return c <= 0x20 || c >= 0x7f || c == '<' || c == '>' || c == ',' || c == ';' ||
                         c == '"';
                }))
              return invalid(quote(*word) + " is not a plain address");
            return word;
          },
          text.print};
}

Type<Seconds> wait_type(Seconds least) {
  const auto duration = duration_type();
  return {duration.name,
          [duration, least](const Value& value) -> Result<Seconds> {
            auto wait = duration.parse(value);
            if (wait && (*wait < least || *wait > kLongestWait))
              return invalid("not from " + std::to_string(least.count()) + " s to 30 days");
            return wait;
          },
          duration.print};
}

Type<std::vector<std::string>> users_type() {
  const auto list = text_list_type();
  return {list.name, list.parse, [list](const std::vector<std::string>& users) {
            return users.empty() ? std::string() : list.print(users);
          }};
}

Type<SmtpConfig> smtp_type() {
  const auto map = map_type(smtp_fields());
  return {map.name,
          [map](const Value& value) -> Result<SmtpConfig> {
            auto smtp = map.parse(value);
            if (smtp && smtp->user.empty() != smtp->password_file.empty())
              return invalid("user and password_file go together");
            return smtp;
          },
          map.print};
}

Status check_webhooks(const std::vector<WebhookConfig>& webhooks) {
  if (webhooks.size() > kMostWebhooks)
    return invalid("more than " + std::to_string(kMostWebhooks) + " webhooks");
  for (auto hook = webhooks.begin(); hook != webhooks.end(); ++hook) {
    if (hook->url.empty()) return invalid("webhook " + quote(hook->name) + " has an empty url");
    if (std::any_of(webhooks.begin(), hook,
                    [&](const WebhookConfig& other) { return other.name == hook->name; }))
      return invalid("webhook " + quote(hook->name) + " is described a second time");
    if (!hook->token_file.empty() && hook->url.starts_with("http://"))
      return invalid(
          "webhook " + quote(hook->name) +
          ": its token would be sent without encryption; use https:// or leave token_file "
          "out");
  }
  return {};
}

}  // namespace

std::vector<Field<SmtpConfig>> smtp_fields() {
  using S = SmtpConfig;
  static constexpr std::array<const char*, 3> kTls = {"required", "if_offered", "none"};
  return {
      field<S>("server", &S::server, url_type({"smtp", "smtps"}, false),
               "The mail server, as smtp://HOST[:PORT] (port 25, TLS by STARTTLS) or "
               "smtps://HOST[:PORT] (port 465, TLS from the beginning). Empty: "
               "controller.mail_program sends the mail."),
      field<S>("tls", &S::tls, enum_type<SmtpTls>(kTls),
               "required: mail is sent by TLS only, and the server's certificate is verified. "
               "if_offered: without TLS where the server does not offer it. none: never by TLS; "
               "for a server on the same machine. The user and its password are sent by TLS only."),
      field<S>("helo", &S::helo, mail_text_type("HOST"),
               "How the controller greets the server, for one that insists on a full name. Empty: "
               "the name of its machine."),
      field<S>("from", &S::from, mail_text_type("ADDRESS"),
               "The sender. Empty: ares@ and the name of the controller's machine."),
      field<S>("user", &S::user, text_type(), "Name for the mail server. Empty: none is given."),
      field<S>("password_file", &S::password_file, file_type(),
               "File whose first line is the password, readable by the controller's user only."),
      field<S>("ca_file", &S::ca_file, file_type(),
               "Certificates, in PEM, of the authorities that are trusted. Empty: the system's."),
      field<S>("mail_domain", &S::mail_domain, mail_text_type("DOMAIN"),
               "Appended to addresses without @, such as the names of users. Empty: the mail "
               "server decides."),
  };
}

std::vector<Field<WebhookConfig>> webhook_fields() {
  using W = WebhookConfig;
  static constexpr std::array<const char*, 2> kFormats = {"json", "slack"};
  return {
      required(field<W>("name", &W::name, name_type(),
                        "Users write it as asub --mail-user=webhook:NAME.")),
      required(field<W>(
          "url", &W::url, url_type({"https", "http"}, true),
          "Where the request is sent with POST. Redirections are not followed. Users are not "
          "shown what follows the host.")),
      field<W>("format", &W::format, enum_type<WebhookFormat>(kFormats),
               "json: all facts about the job, see ares-notify(7). slack: {\"text\": ...}, which "
               "Slack, Mattermost and others show."),
      field<W>("users", &W::users, users_type(), "Users who may choose it. Not given: all."),
      field<W>("token_file", &W::token_file, file_type(),
               "File whose first line is sent as Authorization: Bearer, readable by the "
               "controller's user only. Needs https."),
      field<W>("secret_file", &W::secret_file, file_type(),
               "File whose first line signs each request, readable by the controller's user only: "
               "X-Ares-Signature is sha256= and the HMAC-SHA256 of the body in hexadecimal "
               "digits."),
      field<W>("ca_file", &W::ca_file, file_type(),
               "Certificates, in PEM, of the authorities that are trusted. Empty: the system's."),
      field<W>("proxy", &W::proxy, url_type({"http", "https"}, false),
               "An HTTP proxy that leads there, as http://HOST:PORT. Empty: none."),
  };
}

std::vector<Field<NotifyConfig>> notify_fields() {
  using N = NotifyConfig;
  return {
      field<N>("smtp", &N::smtp, smtp_type(),
               "The mail server for asub --mail-type. Its keys are below."),
      field<N>("webhooks", &N::webhooks,
               list_of_maps_type<WebhookConfig>("list of webhooks", "{name: ops, url: https://...}",
                                                webhook_fields(), check_webhooks),
               "Servers that are told about jobs by HTTP. Keys of an item are below. Default: "
               "none."),
      field<N>("retry_after", &N::retry_after, wait_type(Seconds(1)),
               "Pause before a message is sent again that a server could not take; it doubles "
               "each time, up to an hour. A server that says Retry-After is obeyed."),
      field<N>("give_up_after", &N::give_up_after, wait_type(Seconds(0)),
               "A message that was not delivered for this time is dropped, with a line in the log. "
               "0: it is tried once. Messages that wait are lost when the controller ends."),
  };
}

}  // namespace ares::config
