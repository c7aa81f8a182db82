// What controller, node daemon and supervisor tell one another, and the records of an attempt. The first byte says which it is.
#include "fuzz/target.h"
#include "node/records.h"
#include "node/step_message.h"
#include "node/step_spec.h"
#include "proto/convert_node.h"
#include "proto/gen/node.pb.h"

namespace ares::fuzz {

const Allowance kAllowance{kReservedByProtobuf + (256 << 10), 4096};

namespace {

template <class Wire>
void try_wire(std::string_view input) {
  Wire wire;
  if (!wire.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  const auto message = proto::from_api(wire);
  if (!message) return require_refusal(message.error());
  Wire sent;
  proto::to_api(*message, &sent);
  const auto again = proto::from_api(sent);
  require(again.has_value(), "a message that was accepted is accepted again");
  Wire sent_again;
  proto::to_api(*again, &sent_again);
  require(sent.SerializeAsString() == sent_again.SerializeAsString(),
          "a message survives being sent");
}

template <class Record>
void try_text(std::string_view input, Result<Record> (*decode)(std::string_view)) {
  const auto record = decode(input);
  if (!record) return require_refusal(record.error());
  const std::string text = encode(*record);
  const auto again = decode(text);
  require(again.has_value(), "a written record can be read");
  require(encode(*again) == text, "a record survives being written");
}

void try_directory(std::string_view input) {
  const auto key = node::parse_directory_name(input);
  if (key)
    require(node::directory_name(*key) == input, "the name of a directory survives printing");
  if (const auto notice = node::parse_step_notice(input))
    require(to_string(*notice) == input, "a notice survives printing");
}

}  // namespace

void try_input(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  switch (input[0]) {
    case 'u': return try_wire<api::NodeUp>(rest);
    case 'd': return try_wire<api::NodeDown>(rest);
    case 'c': return try_text(rest, node::decode_step_command);
    case 's': return try_text(rest, node::decode_step_spec);
    case 'n': return try_text(rest, node::decode_identity);
    case 'i': return try_text(rest, node::decode_intent);
    case 'b': return try_text(rest, node::decode_started);
    case 't': return try_text(rest, node::decode_task);
    case 'g': return try_text(rest, node::decode_go);
    case 'e': return try_text(rest, node::decode_exit);
    case 'x': return try_text(rest, node::decode_cancelled);
    default: return try_directory(rest);
  }
}

}  // namespace ares::fuzz
