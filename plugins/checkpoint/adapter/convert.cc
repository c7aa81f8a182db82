#include "checkpoint/adapter/convert.h"

#include <algorithm>
#include <cstring>

namespace ares::checkpoint {
namespace {

struct Row {
  std::int32_t result;
  ErrorCode code;
};
// The first row of a code is its result.
constexpr Row kRows[] = {
    {ARES_CHECKPOINT_REFUSED, ErrorCode::failed_precondition},
    {ARES_CHECKPOINT_NOT_FOUND, ErrorCode::not_found},
    {ARES_CHECKPOINT_DENIED, ErrorCode::permission_denied},
    {ARES_CHECKPOINT_EXISTS, ErrorCode::already_exists},
    {ARES_CHECKPOINT_FULL, ErrorCode::resource_exhausted},
    {ARES_CHECKPOINT_UNAVAILABLE, ErrorCode::unavailable},
    {ARES_CHECKPOINT_DAMAGED, ErrorCode::data_loss},
};

}  // namespace

std::optional<Digest> digest_from_abi(const std::uint8_t* digest) {
  static_assert(Digest{}.size() == ARES_CHECKPOINT_DIGEST_SIZE);
  if (!digest) return std::nullopt;
  Digest copy;
  std::copy_n(digest, copy.size(), copy.begin());
  return copy;
}

std::int32_t to_abi(const Status& status, const ares_checkpoint_error& error) {
  if (status) return ARES_CHECKPOINT_OK;
  if (error.text && error.size > 0) {
    const std::string& message = status.error().message;
    const std::size_t size = std::min(message.size(), error.size - 1);
    std::memcpy(error.text, message.data(), size);
    error.text[size] = '\0';
  }
  for (const Row& row : kRows)
    if (row.code == status.error().code) return row.result;
  return ARES_CHECKPOINT_REFUSED;
}

Status from_abi(std::int32_t result, std::string_view text) {
  if (result == ARES_CHECKPOINT_OK) return {};
  const std::string message(text.empty() ? "the plugin does not say why" : text);
  for (const Row& row : kRows)
    if (row.result == result) return fail(row.code, message);
  return fail(ErrorCode::internal, message);
}

}  // namespace ares::checkpoint
