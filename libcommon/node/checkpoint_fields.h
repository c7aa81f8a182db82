// Checkpoints as `key value` lines: in the record `checkpoints`, in `spec`, and between plugins and aresd.
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job/checkpoint.h"
#include "node/text_fields.h"

namespace ares::node {

void put_checkpoints(FieldWriter& out, const std::vector<Checkpoint>& checkpoints);
std::vector<Checkpoint> get_checkpoints(FieldReader& in);

// The record `checkpoints`: those that the attempt has published and the controller has not confirmed.
std::string encode(const std::vector<Checkpoint>& checkpoints);
Result<std::vector<Checkpoint>> decode_checkpoints(std::string_view text);

// The record `restored`; empty text: none, as long as the attempt looks.
std::string encode(const std::optional<Restored>& restored);
Result<std::optional<Restored>> decode_restored(std::string_view text);

// 64 hexadecimal digits, and back.
std::string hex_of(const std::array<std::uint8_t, 32>& digest);
std::optional<std::array<std::uint8_t, 32>> digest_of(std::string_view hex);

}  // namespace ares::node
