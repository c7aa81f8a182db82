// What ares-submit-hook is asked and answers: written again it is the same.
#include "submit/message/hook_message.h"

#include "fuzz/target.h"

namespace ares::fuzz {

const Allowance kAllowance{256 << 10, 4096};

namespace {

template <class Message>
void try_message(const Result<Message>& message, Result<Message> (*read)(std::string_view)) {
  if (!message) return require_refusal(message.error());
  const std::string text = submit::to_json(*message);
  require(text.find('\n') == std::string::npos, "a message is one line");
  const Result<Message> again = read(text);
  require(again.has_value(), "what was written is a message");
  require(submit::to_json(*again) == text, "a message survives writing");
}

}  // namespace

void try_input(std::string_view input) {
  try_message(submit::hook_call_from_json(input), submit::hook_call_from_json);
  try_message(submit::hook_answer_from_json(input), submit::hook_answer_from_json);
}

}  // namespace ares::fuzz
