#include "steps/ticket.h"

#include <charconv>
#include <vector>

#include "auth/shared_key.h"
#include "steps/handshake.h"

namespace ares::steps {
namespace {

constexpr std::string_view kClient = "client ";

std::string words_of(const Ticket& ticket) {
  return ticket.attempt + " " + std::to_string(ticket.fence.value()) + " " +
         std::to_string(ticket.caller.value()) + " " +
         std::to_string(ticket.expires.time_since_epoch().count());
}

std::string statement(std::string_view what, const ClientCall& call,
                      std::string_view nonce_of_daemon) {
  std::string text(what);
  text += "\n" + words_of(call.ticket) + "\n";
  text += nonce_of_daemon;
  return text + "\n" + call.nonce;
}

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Status check_answer(std::string_view line, std::string_view key, std::string_view statement) {
  if (line.starts_with("no ")) return fail(read_refusal(line));
  if (!line.starts_with("ok "))
    return fail(ErrorCode::invalid_argument, "the node daemon there gave no answer that is known");
  const Result<std::string> proof = auth::from_hex(line.substr(3));
  if (!proof) return fail(proof.error());
  return auth::verify(key, statement, *proof);
}

}  // namespace

std::string ticket_key(const Ticket& ticket, std::string_view attempt_key) {
  // Without the key of the attempt every ticket would be the same for all.
  if (attempt_key.size() < auth::kSharedKeyBytes) return {};
  return auth::prove(attempt_key, "ticket 1\n" + words_of(ticket));
}

bool is_client_call(std::string_view line) {
  return line.starts_with(kClient);
}

std::string call_line(ClientCall call, std::string_view theirs, std::string_view key) {
  call.proof = auth::prove(key, statement("call", call, theirs));
  return std::string(kClient) + words_of(call.ticket) + " " + auth::to_hex(call.nonce) + " " +
         auth::to_hex(call.proof) + "\n";
}

Result<ClientCall> read_call(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(words.back().size() + 1, line.size()));
  }
  ClientCall call;
  std::uint64_t fence = 0;
  std::uint32_t caller = 0;
  std::int64_t expires = 0;
  if (words.size() != 7 || words[0] != "client" || !read_number(words[2], fence) ||
      !read_number(words[3], caller) || !read_number(words[4], expires))
    return fail(ErrorCode::invalid_argument, "a request for steps is malformed");
  call.ticket = {std::string(words[1]), Fence(fence), UserId(caller),
                 std::chrono::sys_seconds(Seconds(expires))};
  Result<std::string> nonce = auth::from_hex(words[5]), proof = auth::from_hex(words[6]);
  if (!nonce) return fail(nonce.error());
  if (!proof) return fail(proof.error());
  call.nonce = std::move(*nonce);
  call.proof = std::move(*proof);
  return call;
}

Status verify_call(const ClientCall& call, std::string_view ours, std::string_view attempt_key,
                   Time now) {
  const std::string key = ticket_key(call.ticket, attempt_key);
  if (Status known = auth::verify(key, statement("call", call, ours), call.proof); !known)
    return known;
  if (std::chrono::floor<Seconds>(now) >= call.ticket.expires)
    return fail(ErrorCode::stale,
                "the permission to reach the steps of this job has expired; try again, and see "
                "whether the clocks of the node and of the controller agree");
  return {};
}

std::string answer_line(const ClientCall& call, std::string_view ours,
                        std::string_view attempt_key) {
  const std::string key = ticket_key(call.ticket, attempt_key);
  return "ok " + auth::to_hex(auth::prove(key, statement("welcome", call, ours))) + "\n";
}

Status read_answer(std::string_view line, const ClientCall& call, std::string_view theirs,
                   std::string_view key) {
  return check_answer(line, key, statement("welcome", call, theirs));
}

}  // namespace ares::steps
