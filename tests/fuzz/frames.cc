// What strangers send before they are authenticated: HTTP/2 as it is counted, frames of the local socket; and addresses.
#include <algorithm>

#include "fuzz/target.h"
#include "proto/gen/api.pb.h"
#include "rpc/server/http2_meter.h"
#include "rpc/wire/address.h"
#include "rpc/wire/local_frame.h"
#include "rpc/wire/peer_address.h"

namespace ares::fuzz {

const Allowance kAllowance{kReservedByProtobuf + (1 << 20), 512};

namespace {

using rpc::Http2Meter;

constexpr std::size_t kMostMessage = 2000;

// How the bytes were cut into packets must not matter.
void try_http2(std::string_view input) {
  Http2Meter whole(kMostMessage), bytewise(kMostMessage);
  const bool accepted = whole.take(input);
  bool accepted_bytewise = true;
  for (std::size_t i = 0; i < input.size() && accepted_bytewise; ++i)
    accepted_bytewise = bytewise.take(input.substr(i, 1));
  require(accepted == accepted_bytewise, "packets do not decide whether HTTP/2 is accepted");
  require(whole.partial_bytes() <= input.size(), "only what was received is counted");
  if (!accepted) return;
  require(whole.received_bytes() == input.size(), "every byte is counted");
  require(whole.received_bytes() == bytewise.received_bytes() &&
              whole.partial_bytes() == bytewise.partial_bytes() &&
              whole.opened_streams() == bytewise.opened_streams(),
          "packets do not change what is counted of HTTP/2");
}

void try_body(std::string_view body) {
  api::Sealed sealed;
  if (!sealed.ParseFromArray(body.data(), static_cast<int>(body.size()))) return;
  api::Sealed again;
  require(again.ParseFromString(sealed.SerializeAsString()) &&
              again.SerializeAsString() == sealed.SerializeAsString(),
          "an envelope survives printing");
}

void try_frames(std::string_view input) {
  while (input.size() >= rpc::kHeadBytes) {
    const auto head = rpc::read_head(input);
    if (!head || input.size() - rpc::kHeadBytes < head->size) return;
    const std::string_view body = input.substr(rpc::kHeadBytes, head->size);
    require(
        rpc::frame(head->call, head->code, body) == input.substr(0, rpc::kHeadBytes + head->size),
        "a frame survives printing");
    if (head->code == rpc::kSealedFrame) {
      try_body(body);
    } else {
      const Error refusal{rpc::refusal_code(head->code), std::string(body)};
      const auto again = rpc::read_head(rpc::refusal_frame(head->call, refusal));
      require(again && rpc::refusal_code(again->code) == refusal.code &&
                  again->size == body.size() && again->call == head->call,
              "a refusal survives printing");
    }
    input.remove_prefix(rpc::kHeadBytes + head->size);
  }
}

void try_address(std::string_view input) {
  const std::string peer = rpc::plain_peer(input);
  require(peer.size() <= input.size(), "the name of a peer does not grow");
  require(rpc::machine_of(peer).size() <= std::max<std::size_t>(peer.size(), 64),
          "the name of a machine is not longer than that of the peer");
  const auto address = rpc::parse_address(input);
  if (!address) return require_refusal(address.error());
  const auto again = rpc::parse_address(rpc::to_string(*address));
  require(again && *again == *address, "an address survives printing");
}

}  // namespace

void try_input(std::string_view input) {
  try_http2(input);
  try_frames(input);
  try_address(input);
}

}  // namespace ares::fuzz
