// Checkpoints: their manifests, what acheckpoint and supervisors say, and the record of a node. The first byte says which.
#include "checkpoint/commit_exchange.h"
#include "checkpoint/manifest.h"
#include "fuzz/target.h"
#include "node/checkpoint_fields.h"

namespace ares::fuzz {

// Of JSON each byte may become an element of an array.
const Allowance kAllowance{std::size_t{64} << 20, 16384};

namespace {

void try_manifest(std::string_view input) {
  const auto read = checkpoint::from_json(input);
  if (!read) return require_fit_to_show(read.error().message);
  for (const checkpoint::ManifestFile& file : read->files)
    require(!file.path.empty() && file.path.front() != '/' &&
                ("/" + file.path + "/").find("/../") == std::string::npos,
            "no file is outside of the checkpoint");
  const auto again = checkpoint::from_json(to_json(*read));
  require(again && to_json(*again) == to_json(*read), "a manifest survives being written");
}

void try_record(std::string_view input) {
  const auto read = node::decode_checkpoints(input);
  if (!read) return require_fit_to_show(read.error().message);
  const auto again = node::decode_checkpoints(node::encode(*read));
  require(again && *again == *read, "a record survives being written");
}

template <class T>
void try_line(std::string_view input, std::optional<T> (*parse)(std::string_view)) {
  const std::optional<T> read = parse(input);
  if (!read) return;
  const std::optional<T> again = parse(to_line(*read));
  require(again && *again == *read, "a line survives being written");
}

}  // namespace

void try_input(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  switch (input[0]) {
    case 'm': return try_manifest(rest);
    case 'r': return try_record(rest);
    case 'q': return try_line(rest, checkpoint::parse_request);
    case 'a': return try_line(rest, checkpoint::parse_answer);
    case 'd':
      if (const auto name = checkpoint::parse_directory_name(rest))
        require(checkpoint::directory_name(name->sequence, name->attempt) == rest,
                "a name has one spelling");
      return;
    default: return;
  }
}

}  // namespace ares::fuzz
