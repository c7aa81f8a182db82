// Conversion of texts, results and errors between Backend and the checkpoint ABI. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/digest.h"
#include "plugin/checkpoint_abi.h"

namespace ares::checkpoint {

inline ares_checkpoint_text to_abi(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view from_abi(const ares_checkpoint_text& text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

// NULL: none.
std::optional<Digest> digest_from_abi(const std::uint8_t* digest);

// Leaves the message in `error`.
std::int32_t to_abi(const Status& status, const ares_checkpoint_error& error);

// `text` is what the call left. internal: a result that is not known.
Status from_abi(std::int32_t result, std::string_view text);

}  // namespace ares::checkpoint
