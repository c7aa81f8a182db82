// Sealed messages: what was not sealed with the key is refused, and what was is accepted once.
#include <cstring>
#include <set>

#include "auth/seal.h"
#include "auth/session_table.h"
#include "fuzz/target.h"
#include "proto/gen/api.pb.h"
#include "rpc/wire/envelope.h"

namespace ares::fuzz {

const Allowance kAllowance{kReservedByProtobuf + (1 << 20), 1024};

namespace {

using auth::Direction;
using auth::SessionKey;

constexpr auto kNow = auth::SessionTable::Clock::time_point{};

const SessionKey& key() {
  static const SessionKey key = SessionKey::random();
  return key;
}

void try_credential(std::string_view input) {
  const auto read = SessionKey::from_credential_payload(input);
  if (!read) return require_refusal(read.error());
  require(read->to_credential_payload() == input, "a session key survives printing");
}

// The input as a whole envelope: it cannot have been sealed with a key that was made a moment ago.
void try_forgery(std::string_view input) {
  api::Sealed sealed;
  if (!sealed.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  auth::SessionTable sessions;
  const auth::Session session = sessions.open(key(), {}, kNow);
  for (const std::uint64_t id : {sealed.session(), session.id}) {
    const auto accepted =
        sessions.accept(id, sealed.sequence(), sealed.payload(), sealed.mac(), kNow);
    require(!accepted, "a forged message is refused");
    require_refusal(accepted.error());
  }
}

// The input as payload: any change of the envelope is noticed.
void try_changes(std::string_view input) {
  const std::string payload(input);
  api::Sealed sealed;
  rpc::put_sealed(&sealed, key(), Direction::request, 1, 2, payload);
  const auto is_good = [](Direction direction, std::uint64_t session, std::uint64_t sequence,
                          std::string_view text, std::string_view mac) {
    return auth::verify_seal(key(), direction, session, sequence, text, mac).has_value();
  };
  const std::string& mac = sealed.mac();
  require(is_good(Direction::request, 1, 2, payload, mac), "a sealed message is accepted");
  require(!is_good(Direction::answer, 1, 2, payload, mac), "a seal is for one direction");
  require(!is_good(Direction::request, 2, 2, payload, mac), "a seal is for one session");
  require(!is_good(Direction::request, 1, 3, payload, mac), "a seal is for one place");
  require(!is_good(Direction::request, 1, 2, payload + "x", mac), "a seal is for one payload");
  require(!is_good(Direction::request, 1, 2, payload, mac.substr(1)), "a seal is whole");
  require(!is_good(Direction::request, 1, 2, payload, input), "a seal cannot be guessed");
}

// The input as sequence numbers, eight bytes each or one byte beyond the one before: each is accepted at most once, and not if
// it is kSpan or more behind the highest.
void try_replay(std::string_view input) {
  auth::ReplayWindow window;
  std::set<std::uint64_t> accepted;
  std::uint64_t sequence = 0;
  while (!input.empty()) {
    const auto step = static_cast<unsigned char>(input.front());
    input.remove_prefix(1);
    if (step == 255 && input.size() >= sizeof sequence) {
      std::memcpy(&sequence, input.data(), sizeof sequence);
      input.remove_prefix(sizeof sequence);
    } else {
      sequence += step - std::uint64_t{128};
    }
    const std::uint64_t highest = accepted.empty() ? 0 : *accepted.rbegin();
    const bool too_old = sequence <= highest && highest - sequence >= auth::ReplayWindow::kSpan;
    const bool is_new = sequence != 0 && !too_old && !accepted.contains(sequence);
    require(window.accept(sequence) == is_new, "each sequence number is accepted once");
    if (is_new) accepted.insert(sequence);
  }
}

}  // namespace

void try_input(std::string_view input) {
  try_credential(input);
  try_forgery(input);
  try_changes(input);
  try_replay(input);
}

}  // namespace ares::fuzz
