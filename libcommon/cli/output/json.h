// Answers of the controller as JSON, for --json.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace ares::cli {

// Field names as in the protocol, 64-bit numbers as numbers, digests as hexadecimal; optional fields that are not set are null.
// Bytes that are not UTF-8 become U+FFFD.
std::string to_json(const google::protobuf::Message& message);

// Appends the same without the newline at the end; lines behind the first are indented by two blanks a level of `depth`.
void put_json(const google::protobuf::Message& message, int depth, std::string& out);

// Appends `text` in quotes.
void put_json_text(std::string_view text, std::string& out);

}  // namespace ares::cli
