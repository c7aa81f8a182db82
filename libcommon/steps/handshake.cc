#include "steps/handshake.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "auth/shared_key.h"
#include "base/clip.h"
#include "base/printable.h"

namespace ares::steps {
namespace {

constexpr std::string_view kGreeting = "ares-steps 1 ";
constexpr std::string_view kNo = "no ";
constexpr std::pair<std::string_view, ErrorCode> kRefusals[] = {
    {"later", ErrorCode::unavailable},
    {"ended", ErrorCode::failed_precondition},
    {"stale", ErrorCode::stale},
};

std::string statement(std::string_view what, const Dial& dial, std::string_view nonce_of_daemon) {
  std::string text(what);
  for (const std::string_view part :
       {std::string_view(dial.attempt), nonce_of_daemon, std::string_view(dial.nonce)}) {
    text += '\n';
    text += part;
  }
  return text + "\n" + std::to_string(dial.fence.value()) + " " + std::to_string(dial.from) + " " +
         std::to_string(dial.to);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(words.back().size() + 1, line.size()));
  }
  return words;
}

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string attempt_key(std::string_view secret, std::string_view attempt, Fence fence, UserId user,
                        std::string_view node_list) {
  std::string purpose = "steps 1\n" + std::string(attempt) + "\n" + std::to_string(fence.value()) +
                        "\n" + std::to_string(user.value()) + "\n";
  purpose += node_list;
  return auth::to_hex(auth::derive_key(secret, purpose));
}

std::string greeting(std::string_view nonce) {
  return std::string(kGreeting) + auth::to_hex(nonce) + "\n";
}

Result<std::string> read_greeting(std::string_view line) {
  if (!line.starts_with(kGreeting))
    return fail(
        ErrorCode::failed_precondition,
        "what listens there is not a node daemon that takes steps: " + quote(clip(line, 60)));
  return auth::from_hex(line.substr(kGreeting.size()));
}

std::string dial_line(Dial dial, std::string_view theirs, std::string_view key) {
  dial.proof = auth::prove(key, statement("dial", dial, theirs));
  return dial.attempt + " " + std::to_string(dial.fence.value()) + " " + std::to_string(dial.from) +
         " " + std::to_string(dial.to) + " " + auth::to_hex(dial.nonce) + " " +
         auth::to_hex(dial.proof) + "\n";
}

Result<Dial> read_dial(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  Dial dial;
  std::uint64_t fence = 0;
  if (words.size() != 6 || !read_number(words[1], fence) || !read_number(words[2], dial.from) ||
      !read_number(words[3], dial.to))
    return fail(ErrorCode::invalid_argument, "a request for steps is malformed");
  dial.attempt = words[0];
  dial.fence = Fence(fence);
  Result<std::string> nonce = auth::from_hex(words[4]), proof = auth::from_hex(words[5]);
  if (!nonce) return fail(nonce.error());
  if (!proof) return fail(proof.error());
  dial.nonce = std::move(*nonce);
  dial.proof = std::move(*proof);
  return dial;
}

Status verify_dial(const Dial& dial, std::string_view ours, std::string_view key) {
  return auth::verify(key, statement("dial", dial, ours), dial.proof);
}

std::string answer_line(const Dial& dial, std::string_view ours, std::string_view key) {
  return "ok " + auth::to_hex(auth::prove(key, statement("answer", dial, ours))) + "\n";
}

std::string refusal_line(const Error& why) {
  std::string_view code = "refused";
  for (const auto& [word, known] : kRefusals)
    if (known == why.code) code = word;
  std::string text = clip(why.message, kLongestLine - 20);
  for (char& c : text)
    if (c == '\n') c = ' ';
  return "no " + std::string(code) + " " + text + "\n";
}

Error read_refusal(std::string_view line) {
  line.remove_prefix(std::min(line.size(), kNo.size()));
  const std::string_view code = line.substr(0, line.find(' '));
  const std::string text(line.substr(std::min(line.size(), code.size() + 1)));
  for (const auto& [word, known] : kRefusals)
    if (word == code) return {known, text};
  return {ErrorCode::permission_denied, text};
}

Status read_answer(std::string_view line, const Dial& dial, std::string_view theirs,
                   std::string_view key) {
  if (line.starts_with(kNo)) return fail(read_refusal(line));
  if (!line.starts_with("ok "))
    return fail(ErrorCode::invalid_argument, "the node daemon there gave no answer that is known");
  const Result<std::string> proof = auth::from_hex(line.substr(3));
  if (!proof) return fail(proof.error());
  return auth::verify(key, statement("answer", dial, theirs), *proof);
}

}  // namespace ares::steps
