#include "node/checkpoint_fields.h"

namespace ares::node {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string hex_of(const std::array<std::uint8_t, 32>& digest) {
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<std::array<std::uint8_t, 32>> digest_of(std::string_view hex) {
  std::array<std::uint8_t, 32> digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const std::size_t high = kDigits.find(hex[2 * i]), low = kDigits.find(hex[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return digest;
}

void put_checkpoints(FieldWriter& out, const std::vector<Checkpoint>& checkpoints) {
  for (const Checkpoint& one : checkpoints)
    out.put("checkpoint", one.sequence)
        .put("checkpoint_attempt", one.attempt)
        .put("checkpoint_manifest", hex_of(one.manifest))
        .put("checkpoint_size", one.size)
        .put("checkpoint_uri", one.uri)
        .put("checkpoint_at_us", one.at);
}

std::vector<Checkpoint> get_checkpoints(FieldReader& in) {
  const auto sequences = in.numbers<std::uint64_t>("checkpoint");
  const auto attempts = in.numbers<AttemptNo::rep>("checkpoint_attempt");
  const std::vector<std::string> manifests = in.all("checkpoint_manifest");
  const auto sizes = in.numbers<std::int64_t>("checkpoint_size");
  const std::vector<std::string> uris = in.all("checkpoint_uri");
  const auto times = in.numbers<std::int64_t>("checkpoint_at_us");
  std::vector<Checkpoint> checkpoints;
  for (const std::size_t count :
       {attempts.size(), manifests.size(), sizes.size(), uris.size(), times.size()})
    if (count != sequences.size()) {
      in.wrong("checkpoint", "does not pair with its other fields");
      return checkpoints;
    }
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto manifest = digest_of(manifests[i]);
    if (!manifest) in.wrong("checkpoint_manifest", "is not a SHA-256");
    checkpoints.push_back({sequences[i], AttemptNo(attempts[i]),
                           manifest.value_or(std::array<std::uint8_t, 32>{}), Bytes(sizes[i]),
                           uris[i], Time(Duration(times[i]))});
  }
  return checkpoints;
}

std::string encode(const std::vector<Checkpoint>& checkpoints) {
  FieldWriter out;
  put_checkpoints(out, checkpoints);
  return out.take();
}

Result<std::vector<Checkpoint>> decode_checkpoints(std::string_view text) {
  FieldReader in("checkpoints", text);
  std::vector<Checkpoint> checkpoints = get_checkpoints(in);
  if (Status status = in.status(); !status) return fail(status.error());
  return checkpoints;
}

std::string encode(const std::optional<Restored>& restored) {
  if (!restored) return {};
  return FieldWriter()
      .put("attempt", restored->attempt)
      .put("sequence", restored->sequence)
      .put("passed_over", restored->passed_over)
      .take();
}

Result<std::optional<Restored>> decode_restored(std::string_view text) {
  if (text.empty()) return std::optional<Restored>();
  FieldReader in("restored", text);
  Restored restored;
  restored.attempt = in.id<AttemptNo>("attempt");
  restored.sequence = in.number<std::uint64_t>("sequence");
  restored.passed_over = in.number<std::uint32_t>("passed_over");
  if (Status status = in.status(); !status) return fail(status.error());
  return std::optional<Restored>(restored);
}

}  // namespace ares::node
