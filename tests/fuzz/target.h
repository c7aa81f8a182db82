// What every target shares. A target is one source that defines kAllowance and try_input(); target.cc has the entry of libFuzzer.
// One thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace ares::fuzz {

// How much one input may allocate, all allocations added up: an input of n bytes `fixed + n * per_byte`. It bounds a reader's
// work as well as its memory.
struct Allowance {
  std::size_t fixed = 0;
  std::size_t per_byte = 0;
};
extern const Allowance kAllowance;

// To be added by targets that parse messages: protobuf reserves up to 50 MB, once, for a string that is announced longer than the
// message is, and fills none of it.
inline constexpr std::size_t kReservedByProtobuf = 64 << 20;

// Reads one input and requires what must hold of the result. Must leave nothing behind.
void try_input(std::string_view input);

// Ends the process unless it holds; libFuzzer then keeps the input. `what` is the rule that was broken.
void require(bool holds, std::string_view what);

// The longest message that a reader may answer an input with: a quotation, perhaps within another one, and the remedy.
inline constexpr std::size_t kLongestMessage = 1000;

// Requires that it is not empty, at most kLongestMessage bytes of UTF-8, and contains nothing that a terminal acts on.
void require_fit_to_show(std::string_view message);

// Requires a message that is fit to show, and that the error is not a bug of Ares.
void require_refusal(const Error& error);

}  // namespace ares::fuzz
