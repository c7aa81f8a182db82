// What programs of users send to the PMI server of their step, and what the step's other nodes contribute to a barrier.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "pmi/pmi1_server.h"

namespace ares::fuzz {

// Each byte may complete a line that is answered with the longest value.
const Allowance kAllowance{1 << 20, 4096};

namespace {

using pmi::Outcome;
using pmi::Pmi1Server;

Pmi1Server make_server() {
  auto server = Pmi1Server::create({.size = 3, .ranks_by_node = {{0, 2}, {1}}}, "ares_1.0");
  require(server.has_value(), "the map is right");
  return std::move(*server);
}

void check_outcome(const Outcome& outcome) {
  for (const auto& reply : outcome.replies) {
    require(reply.rank == 0 || reply.rank == 2, "only local ranks are answered");
    require(reply.line.starts_with("cmd=") && reply.line.size() <= pmi::kMostLine,
            "an answer fits into a line");
    require(reply.line.find('\n') == reply.line.size() - 1, "an answer is one line");
  }
  if (outcome.abort) require_fit_to_show(outcome.abort->message);
  if (outcome.contribution) {
    const auto read = pmi::read_contribution(*outcome.contribution);
    require(read && print(*read) == *outcome.contribution, "a contribution survives printing");
  }
}

// The ranks take turns: a byte 0 in the input switches to the other one. A barrier completes at once, with nothing of the other node.
void try_ranks(std::string_view input, bool bytewise, std::string& answers) {
  Pmi1Server server = make_server();
  std::uint32_t rank = 0;
  std::uint64_t fence = 0;
  const auto take = [&](const Outcome& outcome) {
    check_outcome(outcome);
    for (const auto& reply : outcome.replies) answers += std::to_string(reply.rank) + reply.line;
    if (outcome.abort) answers += outcome.abort->message;
    return outcome.contribution;
  };
  while (!input.empty()) {
    if (input.front() == 0) {
      input.remove_prefix(1);
      rank = 2 - rank;
      continue;
    }
    const std::string_view run = input.substr(0, input.find('\0'));
    input.remove_prefix(run.size());
    for (std::size_t at = 0; at < run.size();) {
      const std::size_t end_of_line = std::min(run.find('\n', at), run.size() - 1);
      const std::string_view piece = run.substr(at, bytewise ? 1 : end_of_line + 1 - at);
      at += piece.size();
      const auto contribution = take(server.on_bytes(rank, piece));
      if (!contribution) continue;
      const std::vector<std::string> all{*contribution, pmi::print({fence++, {}})};
      (void)take(server.on_fence(all));
    }
  }
  (void)take(server.on_closed(0));
  (void)take(server.on_closed(2));
}

void try_contribution(std::string_view input) {
  const auto read = pmi::read_contribution(input);
  if (!read) {
    require_refusal(read.error());
  } else {
    require(print(*read) == input, "only what print() gives is read");
  }
  Pmi1Server server = make_server();
  check_outcome(server.on_bytes(0, "cmd=barrier_in\n"));
  check_outcome(server.on_bytes(2, "cmd=barrier_in\n"));
  const std::vector<std::string> all{"fence 0\n", std::string(input)};
  const Outcome outcome = server.on_fence(all);
  check_outcome(outcome);
  require(outcome.abort.has_value() == outcome.replies.empty(), "a barrier ends or is given up");
}

}  // namespace

void try_input(std::string_view input) {
  std::string whole, bytewise;
  try_ranks(input, false, whole);
  try_ranks(input, true, bytewise);
  require(whole == bytewise, "pieces do not decide what is answered");
  try_contribution(input);
}

}  // namespace ares::fuzz
