#include "notify/message/message.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace ares::notify {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 3> kTls = {"required", "if_offered", "none"};
constexpr std::array<const char*, 3> kKinds = {"delivered", "later", "refused"};

// Texts about jobs are checked when they are submitted, but older ones may hold any bytes.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Reads the members of an object and remembers the first one that is missing or has another type.
class Reader {
 public:
  explicit Reader(std::string_view text) : json_(Json::parse(text, nullptr, false)) {
    if (!json_.is_object()) problem_ = "not a JSON object";
  }

  void read(const char* name, std::string& to) {
    if (const Json* found = find(name, Json::value_t::string)) to = found->get<std::string>();
  }
  void read(const char* name, bool& to) {
    if (const Json* found = find(name, Json::value_t::boolean)) to = found->get<bool>();
  }
  void read(const char* name, std::int64_t& to) {
    const Json* found = member(name);
    if (found && found->is_number_integer())
      to = found->get<std::int64_t>();
    else
      miss(name);
  }
  void read(const char* name, std::vector<std::string>& to) {
    const Json* found = find(name, Json::value_t::array);
    if (!found) return;
    for (const Json& item : *found) {
      if (!item.is_string()) return miss(name);
      to.push_back(item.get<std::string>());
    }
  }
  template <class Enum, std::size_t N>
  void read(const char* name, const std::array<const char*, N>& words, Enum& to) {
    std::string word;
    read(name, word);
    for (std::size_t i = 0; i < N; ++i)
      if (word == words[i]) {
        to = static_cast<Enum>(i);
        return;
      }
    miss(name);
  }

  void miss(const char* name) {
    if (problem_.empty()) problem_ = std::string(name) + " is missing or not valid";
  }
  const std::string& problem() const { return problem_; }

 private:
  const Json* member(const char* name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }
  const Json* find(const char* name, Json::value_t type) {
    const Json* found = member(name);
    if (found && found->type() == type) return found;
    miss(name);
    return nullptr;
  }

  Json json_;
  std::string problem_;
};

Json to_object(const Mail& mail) {
  return {{"kind", "mail"},
          {"server", mail.server},
          {"tls", kTls[static_cast<std::size_t>(mail.tls)]},
          {"user", mail.user},
          {"password_file", mail.password_file},
          {"ca_file", mail.ca_file},
          {"helo", mail.helo},
          {"from", mail.from},
          {"to", mail.to},
          {"id", mail.id},
          {"date", mail.date},
          {"subject", mail.subject},
          {"body", mail.body}};
}

Json to_object(const Webhook& hook) {
  return {{"kind", "webhook"},
          {"url", hook.url},
          {"delivery", hook.delivery},
          {"event", hook.event},
          {"body", hook.body},
          {"token_file", hook.token_file},
          {"secret_file", hook.secret_file},
          {"ca_file", hook.ca_file},
          {"proxy", hook.proxy}};
}

Mail read_mail(Reader& from) {
  Mail mail;
  from.read("server", mail.server);
  from.read("tls", kTls, mail.tls);
  from.read("user", mail.user);
  from.read("password_file", mail.password_file);
  from.read("ca_file", mail.ca_file);
  from.read("helo", mail.helo);
  from.read("from", mail.from);
  from.read("to", mail.to);
  from.read("id", mail.id);
  from.read("date", mail.date);
  from.read("subject", mail.subject);
  from.read("body", mail.body);
  if (mail.to.empty()) from.miss("to");
  return mail;
}

Webhook read_webhook(Reader& from) {
  Webhook hook;
  from.read("url", hook.url);
  from.read("delivery", hook.delivery);
  from.read("event", hook.event);
  from.read("body", hook.body);
  from.read("token_file", hook.token_file);
  from.read("secret_file", hook.secret_file);
  from.read("ca_file", hook.ca_file);
  from.read("proxy", hook.proxy);
  return hook;
}

}  // namespace

std::string to_json(const Message& message) {
  return dump(std::visit([](const auto& one) { return to_object(one); }, message));
}

Result<Message> message_from_json(std::string_view text) {
  Reader from(text);
  std::string kind;
  from.read("kind", kind);
  Message message;
  if (kind == "mail")
    message = read_mail(from);
  else if (kind == "webhook")
    message = read_webhook(from);
  else
    from.miss("kind");
  if (!from.problem().empty()) return invalid("the message cannot be read: " + from.problem());
  return message;
}

std::string to_json(const Outcome& outcome) {
  return dump(Json{{"outcome", kKinds[static_cast<std::size_t>(outcome.kind)]},
                   {"of_server", outcome.of_server},
                   {"wait", outcome.wait.count()},
                   {"text", outcome.text}});
}

Result<Outcome> outcome_from_json(std::string_view text) {
  Reader from(text);
  Outcome outcome;
  std::int64_t wait = 0;
  from.read("outcome", kKinds, outcome.kind);
  from.read("of_server", outcome.of_server);
  from.read("wait", wait);
  from.read("text", outcome.text);
  if (!from.problem().empty()) return invalid("the answer cannot be read: " + from.problem());
  outcome.wait = Seconds(std::max<std::int64_t>(wait, 0));
  return outcome;
}

}  // namespace ares::notify
