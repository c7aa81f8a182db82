// The controller's responses as JSON, for --json. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace ares::cli {

// Field names are those of the protocol, 64-bit numbers are numbers, and digests are hexadecimal.
// Unset optional fields are null. Bytes that are not UTF-8 become U+FFFD.
std::string to_json(const google::protobuf::Message& message);

// Appends the same text without the final newline. Lines after the first are indented by two blanks
// per level of `depth`.
void put_json(const google::protobuf::Message& message, int depth, std::string& out);

// Appends `job` in the same way, with the number of the job first under the name that it has in the
// output of Slurm: "job_id".
void put_job_json(const google::protobuf::Message& job, std::uint64_t id, int depth,
                  std::string& out);

// What the programs of Slurm's users look for in every output: {"plugin": {"type": "ares", ...}}.
std::string json_meta(std::string_view command);

// The same JSON on one line, without spaces at the ends of lines.
std::string on_one_line(std::string_view json);

// Appends `text` in quotes.
void put_json_text(std::string_view text, std::string& out);

}  // namespace ares::cli
