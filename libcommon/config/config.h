// Reads ares.yaml, the configuration file of all programs, into typed values (values.h). Created
// once at start by load() or load_client(), then immutable: any thread may read. Errors name the
// file and the line and describe the problem.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/print.h"
#include "config/values.h"

namespace ares::config {

// `flag` (of --config) if not empty, else $ARES_CONF, else /etc/ares/ares.yaml.
std::string default_path(std::string_view flag = {});

// Reads and checks the whole file. Returns not_found if it does not exist, and invalid_argument
// with "FILE:LINE: …" for errors in it: unknown keys, bad values, duplicate node names, partitions
// of unknown nodes, no default partition.
Result<Config> load(const std::string& path);

// Parses a text as the contents of the file `path`.
Result<Config> parse(const std::string& text, const std::string& path);

// Sets one key of `policy` with the same checks as for the file. Returns invalid_argument that
// names key and value.
Status set_policy(Config& config, const std::string& key, const std::string& value);

// Reads and checks only the sections that commands need: `cluster`, `controller` and `auth`.
Result<ClientConfig> load_client(const std::string& path);

// Reads and checks only the section `checkpoint`.
Result<CheckpointConfig> load_checkpoint(const std::string& path);

// Parses the result of to_portable(). `name` stands for the file in messages.
Result<Config> parse(const PortableConfig& portable, const std::string& name);

}  // namespace ares::config
