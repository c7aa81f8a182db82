// What arespmixd, which runs as the user, tells the daemon of a step, and the other way round.
#include <concepts>
#include <string>

#include "fuzz/target.h"
#include "pmi/pmix_check.h"
#include "pmi/pmix_message.h"

namespace ares::fuzz {

// A variable of an environment has eight bytes at least, and costs two strings. Vectors double.
const Allowance kAllowance{1 << 20, 512};

namespace {

const pmi::TaskMap kMap{.size = 3, .ranks_by_node = {{0, 1}, {2}}, .this_node = 0};

template <class Message>
void try_body(std::string_view body, Result<Message> (*read)(std::string_view)) {
  const Result<Message> message = read(body);
  if (!message) return require_refusal(message.error());
  pmi::PmixFrames frames(pmi::kMostPmixEvent);
  frames.add(pmi::frame(*message));
  const auto again = frames.next();
  require(again && *again && **again == body, "a message survives printing");
  if constexpr (std::same_as<Message, pmi::PmixEvent>)
    if (Status right = check(*message, kMap); !right) require_refusal(right.error());
}

}  // namespace

void try_input(std::string_view input) {
  try_body(input, &pmi::read_event);
  try_body(input, &pmi::read_command);

  pmi::PmixFrames whole(pmi::kMostPmixEvent), bytewise(pmi::kMostPmixEvent);
  whole.add(input);
  std::string of_whole, of_bytewise;
  while (true) {
    const auto body = whole.next();
    if (!body) {
      require_refusal(body.error());
      of_whole += "refused";
    }
    if (!body || !*body) break;
    of_whole += std::to_string((*body)->size()) + ":" + **body;
  }
  for (std::size_t i = 0; i < input.size(); ++i) {
    bytewise.add(input.substr(i, 1));
    const auto body = bytewise.next();
    if (!body) {
      of_bytewise += "refused";
      break;
    }
    if (*body) of_bytewise += std::to_string((*body)->size()) + ":" + **body;
  }
  require(of_whole == of_bytewise, "pieces do not decide what is read");
}

}  // namespace ares::fuzz
