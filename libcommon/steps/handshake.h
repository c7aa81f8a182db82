// How a step host reaches the host of another node of its attempt: three lines with the node daemon
// there, which then hands over the connection. Both prove that they know the key of the attempt, which
// the controller gave to its nodes alone. Pure functions; any thread.
//
//   node daemon -> host:  ares-steps 1 NONCE
//   host -> node daemon:  ATTEMPT FENCE FROM TO NONCE PROOF
//   node daemon -> host:  ok PROOF             or:  no CODE REASON
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace ares::steps {

inline constexpr std::size_t kLongestLine = 512;

struct Dial {
  std::string attempt;  // name of its directory
  Fence fence;
  std::uint32_t from = 0, to = 0;  // ranks of the nodes
  std::string nonce;               // of the host
  std::string proof;
};

// The key of an attempt, from the cluster's secret, in printable form: it is in records, which are text. It
// is bound to all that the credential is for.
std::string attempt_key(std::string_view secret, std::string_view attempt, Fence fence, UserId user,
                        std::string_view node_list);

std::string greeting(std::string_view nonce);
Result<std::string> read_greeting(std::string_view line);  // the nonce

// `theirs` is the nonce of the greeting.
std::string dial_line(Dial dial, std::string_view theirs, std::string_view key);
Result<Dial> read_dial(std::string_view line);
// unauthenticated if the host does not know the key. `ours` is the nonce of the greeting.
Status verify_dial(const Dial& dial, std::string_view ours, std::string_view key);

std::string answer_line(const Dial& dial, std::string_view ours, std::string_view key);
// With the code of the error where the caller does something about it: unavailable, failed_precondition, stale.
std::string refusal_line(const Error& why);
// What a line says that begins with "no ".
Error read_refusal(std::string_view line);
// An error if the node daemon refuses, with its reason, or does not know the key.
Status read_answer(std::string_view line, const Dial& dial, std::string_view theirs,
                   std::string_view key);

}  // namespace ares::steps
