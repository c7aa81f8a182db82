// ares.yaml: the configuration in force is printed as a file that says the same.
#include "config/config.h"
#include "config/diff.h"
#include "config/read.h"
#include "fuzz/target.h"

namespace ares::fuzz {

const Allowance kAllowance{64 << 20, 64 << 10};

namespace {

using config::Config;

constexpr const char* kPath = "/etc/ares/ares.yaml";

std::optional<UserId> find_user(const std::string& name) {
  if (name == "unknown") return std::nullopt;
  const auto number = config::numeric_user(name);
  return number ? number : UserId(1000);
}

Result<std::string> read_other(const std::string&) {
  return std::string("topologies:\n  - {name: t, tree: [{switch: s, nodes: \"n[1-4]\"}]}\n");
}

Result<Config> read(const std::string& text) {
  return config::read_config(text, kPath, find_user, read_other);
}

// Host lists have a target of their own; here thousands of nodes would only take time.
bool names_many(std::string_view text) {
  std::size_t digits = 0;
  bool in_brackets = false;
  for (const char c : text) {
    if (c == '[' || c == ']') in_brackets = c == '[';
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (in_brackets && digits > 2) return true;
  }
  return false;
}

}  // namespace

void try_input(std::string_view input) {
  if (names_many(input)) return;
  const std::string text(input);
  if (const auto client = config::read_client(text, kPath); !client)
    require_refusal(client.error());
  const auto config = read(text);
  if (!config) return require_refusal(config.error());

  const std::string printed = config::to_yaml(*config);
  const auto again = read(printed);
  require(again.has_value(), "a printed configuration is a configuration");
  require(config::to_yaml(*again) == printed, "a configuration survives printing");
  require(config::hash(*again) == config::hash(*config), "a printed configuration has its hash");
  require(config::diff(*config, config->partitions, *again).empty(),
          "a printed configuration does not differ");
  const auto portable = config::parse(config::to_portable(*config), "dump");
  require(portable.has_value(), "a configuration can be taken elsewhere");
}

}  // namespace ares::fuzz
