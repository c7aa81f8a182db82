// Text of ares.yaml to values, apart from files and users, for load(), load_client() and tests.
// Internal to config/; pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/fields.h"
#include "config/values.h"

namespace ares::config {

// Reads any file. The error says only that it cannot be read, and why.
Result<std::string> read_file(const std::string& path);
// Reads ares.yaml. The error also says how to name a file elsewhere.
Result<std::string> read_main_file(const std::string& path);

// Turns a user name into a uid; nullopt if there is no such user.
using FindUser = std::function<std::optional<UserId>(const std::string&)>;

// Returns the text of another file that the configuration names.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

Result<Config> read_config(const std::string& text, const std::string& path,
                           const FindUser& find_user, const ReadFile& read_other = read_file);
Result<ClientConfig> read_client(const std::string& text, const std::string& path);
Result<CheckpointConfig> read_checkpoint(const std::string& text, const std::string& path);

// A uid written as a number.
std::optional<UserId> numeric_user(std::string_view text);

// Looks in /etc/passwd only, which is fast and works in a static program.
std::optional<UserId> local_user(const std::string& name);

// `connect` if given, else the first of `listen`.
std::vector<std::string> connect_addresses(const ControllerConfig& controller);

}  // namespace ares::config
