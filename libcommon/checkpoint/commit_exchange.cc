#include "checkpoint/commit_exchange.h"

#include <charconv>
#include <vector>

#include "node/checkpoint_fields.h"

namespace ares::checkpoint {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) return words;
    line.remove_prefix(space + 1);
  }
}

template <class T>
std::optional<T> number(std::string_view digits) {
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || value < 0)
    return std::nullopt;
  return value;
}

struct Line {
  std::string operator()(const BeginRequest&) const { return "begin"; }
  std::string operator()(const CommitRequest& r) const {
    return "commit " + std::to_string(r.sequence) + " " + node::hex_of(r.manifest) + " " +
           std::to_string(r.size.value());
  }
  std::string operator()(const Begun& a) const {
    return "begun " + std::to_string(a.sequence) + " " + std::to_string(a.attempt) + " " + a.job;
  }
  std::string operator()(const Recorded& a) const {
    return "recorded " + std::to_string(a.wait.count());
  }
  std::string operator()(const Known& a) const { return "known " + std::to_string(a.oldest_kept); }
  std::string operator()(const Refusal& a) const { return "error " + a.why; }
};

}  // namespace

std::string to_line(const Request& request) {
  return std::visit(Line(), request);
}

std::string to_line(const Answer& answer) {
  return std::visit(Line(), answer);
}

std::optional<Request> parse_request(std::string_view line) {
  if (line == "begin") return BeginRequest{};
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != 4 || words[0] != "commit") return std::nullopt;
  const auto sequence = number<std::uint64_t>(words[1]);
  const auto manifest = node::digest_of(words[2]);
  const auto size = number<std::int64_t>(words[3]);
  if (!sequence || !manifest || !size) return std::nullopt;
  return CommitRequest{*sequence, *manifest, Bytes(*size)};
}

std::optional<Answer> parse_answer(std::string_view line) {
  constexpr std::string_view kError = "error ";
  if (line == "recorded") return Recorded{};  // of a supervisor that does not wait
  if (line.starts_with(kError)) return Refusal{std::string(line.substr(kError.size()))};
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() == 2 && words[0] == "known") {
    if (const auto oldest = number<std::uint64_t>(words[1])) return Known{*oldest};
  } else if (words.size() == 2 && words[0] == "recorded") {
    if (const auto wait = number<std::int64_t>(words[1])) return Recorded{Duration(*wait)};
  } else if (words.size() == 4 && words[0] == "begun" && !words[3].empty()) {
    const auto sequence = number<std::uint64_t>(words[1]);
    const auto attempt = number<std::uint32_t>(words[2]);
    if (sequence && attempt) return Begun{*sequence, *attempt, std::string(words[3])};
  }
  return std::nullopt;
}

}  // namespace ares::checkpoint
