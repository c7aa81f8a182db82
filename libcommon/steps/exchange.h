// What the nodes of a step exchange for MPI: each adds its part, and all of them get all parts. Plain
// data and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::steps {

struct Contribution {
  std::string name;                  // of the exchange; the same on all nodes that take part
  std::vector<std::uint32_t> nodes;  // that take part, by their place in the step; none: all
  std::string data;                  // any bytes
  friend bool operator==(const Contribution&, const Contribution&) = default;
};

struct Gathered {
  std::string name;
  std::vector<std::string> parts;  // in the order of the nodes that took part
  friend bool operator==(const Gathered&, const Gathered&) = default;
};

// A rank wants what a rank of another node published, and the answer.
struct Question {
  std::uint64_t id = 0;    // of the asking node
  std::uint32_t from = 0;  // the asking node; set by the manager
  std::uint32_t rank = 0;  // that is asked
  friend bool operator==(const Question&, const Question&) = default;
};
struct Answer {
  std::uint64_t id = 0;
  std::uint32_t from = 0;  // as in the question
  bool found = false;
  std::string data;
  friend bool operator==(const Answer&, const Answer&) = default;
};

std::string encode(const Contribution& contribution);
std::string encode(const Gathered& gathered);
std::string encode(const Question& question);
std::string encode(const Answer& answer);
Result<Contribution> decode_contribution(std::string_view text);
Result<Gathered> decode_gathered(std::string_view text);
Result<Question> decode_question(std::string_view text);
Result<Answer> decode_answer(std::string_view text);

}  // namespace ares::steps
