// Reads ares.yaml, the one configuration file of every program, into typed values (values.h).
// Made once at start by load() or load_client(), then immutable: any thread may read.
// What a user typed wrongly comes back as an Error that names file, line and what was meant.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/print.h"
#include "config/values.h"

namespace ares::config {

// `flag` (of --config) if not empty, else $ARES_CONF, else /etc/ares/ares.yaml.
std::string default_path(std::string_view flag = {});

// Reads and checks all of the file. not_found when there is none; invalid_argument with "FILE:LINE:
// …" for whatever is wrong in it: unknown keys, bad values, doubled node names, partitions of
// unknown nodes, no default partition.
Result<Config> load(const std::string& path);

// The same of a text that stands for the file `path`.
Result<Config> parse(const std::string& text, const std::string& path);

// Sets one key of `policy` as if the file said so, with the same checks. invalid_argument that names key and value.
Status set_policy(Config& config, const std::string& key, const std::string& value);

// Reads and checks only what a command needs: the sections `cluster`, `controller` and `auth`.
Result<ClientConfig> load_client(const std::string& path);

// What to_portable() gave. `name` stands for the file in messages.
Result<Config> parse(const PortableConfig& portable, const std::string& name);

}  // namespace ares::config
