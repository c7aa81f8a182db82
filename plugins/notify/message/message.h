// What aresctld and ares-notify tell each other: one message to be sent, as JSON on the standard input of ares-notify, and what became of
// it, as JSON on its standard output. Secrets are named by their files, and never part of it. Values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace ares::notify {

enum class Tls : std::uint8_t { required, if_offered, none };

struct Mail {
  std::string server;  // smtp://HOST[:PORT] or smtps://HOST[:PORT]
  Tls tls = Tls::required;
  std::string user;           // empty = no authentication
  std::string password_file;  // of `user`
  std::string ca_file;        // empty = the system's authorities
  std::string helo;           // how the sender's machine names itself
  std::string from;
  std::vector<std::string> to;  // at least one
  std::string id;               // of the message, the same for each try; without < and >
  std::int64_t date = 0;        // seconds since 1970
  std::string subject;          // UTF-8, one line
  std::string body;             // UTF-8, lines that end with \n
};

struct Webhook {
  std::string url;       // http:// or https://
  std::string delivery;  // the same for each try
  std::string event;     // BEGIN, END, ...
  std::string body;      // JSON
  std::string token_file;
  std::string secret_file;
  std::string ca_file;  // empty = the system's authorities
  std::string proxy;    // empty = none
};

using Message = std::variant<Mail, Webhook>;

struct Outcome {
  enum class Kind : std::uint8_t {
    delivered,
    later,   // the same message may be taken later
    refused  // it will never be taken
  };
  Kind kind = Kind::delivered;
  bool of_server = false;  // `later` for a reason that holds for all messages to that server
  Seconds wait{0};         // for which the server asked before the next try; 0 = it did not
  std::string text{};      // why it was not delivered; printable, without secrets
};

std::string to_json(const Message& message);
// invalid_argument: it is not what to_json() writes.
Result<Message> message_from_json(std::string_view text);

std::string to_json(const Outcome& outcome);
Result<Outcome> outcome_from_json(std::string_view text);

}  // namespace ares::notify
