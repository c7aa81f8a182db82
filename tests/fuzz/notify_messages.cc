// What aresctld and ares-notify tell each other: written again it is the same.
#include "fuzz/target.h"
#include "notify/message/message.h"

namespace ares::fuzz {

const Allowance kAllowance{256 << 10, 4096};

namespace {

template <class Message>
void try_message(const Result<Message>& message, Result<Message> (*read)(std::string_view)) {
  if (!message) return require_refusal(message.error());
  const std::string text = notify::to_json(*message);
  const Result<Message> again = read(text);
  require(again.has_value(), "what was written is a message");
  require(notify::to_json(*again) == text, "a message survives writing");
}

}  // namespace

void try_input(std::string_view input) {
  const auto message = notify::message_from_json(input);
  try_message(message, notify::message_from_json);
  if (message)
    if (const auto* mail = std::get_if<notify::Mail>(&*message))
      require(!mail->to.empty(), "a mail has a receiver");
  const auto outcome = notify::outcome_from_json(input);
  try_message(outcome, notify::outcome_from_json);
  if (outcome) require(outcome->wait >= Seconds(0), "a pause is not negative");
}

}  // namespace ares::fuzz
