#include "steps/script_message.h"

#include "base/printable.h"

namespace ares::steps {

Status check_message(std::string_view text) {
  const auto bad = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "the message " + std::move(what));
  };
  if (text.empty()) return bad("is empty");
  if (text.size() > kLongestMessage)
    return bad("has " + std::to_string(text.size()) + " bytes; at most " +
               std::to_string(kLongestMessage) + " are possible");
  if (!is_utf8(text)) return bad("is not UTF-8");
  if (has_control(text, "\t"))
    return bad("has a control character, such as the end of a line; only tabulators are possible");
  return {};
}

std::string message_line(std::string_view user, std::string_view text) {
  return "ares: message from " + printable(user) + ": " + std::string(text) + "\n";
}

}  // namespace ares::steps
