#include "config/config.h"

#include <pwd.h>

#include "config/read.h"

namespace ares::config {
namespace {

std::optional<UserId> system_user(const std::string& name) {
  if (const auto uid = numeric_user(name)) return uid;
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
    return std::nullopt;
  return UserId(found->pw_uid);
}

}  // namespace

Result<Config> parse(const std::string& text, const std::string& path) {
  return read_config(text, path, system_user);
}

Result<Config> parse(const PortableConfig& portable, const std::string& name) {
  return read_config(portable.yaml, name, system_user,
                     [&](const std::string&) { return portable.topologies; });
}

Result<Config> load(const std::string& path) {
  return read_main_file(path).and_then([&](const std::string& text) { return parse(text, path); });
}

std::string NodeConfig::spool_of(std::string_view node_name) const {
  std::string out;
  for (std::size_t i = 0; i < spool.size(); ++i) {
    if (spool[i] == '%' && i + 1 < spool.size() && (spool[i + 1] == 'n' || spool[i + 1] == '%')) {
      ++i;
      if (spool[i] == 'n') {
        out += node_name;
      } else {
        out += '%';
      }
      continue;
    }
    out += spool[i];
  }
  return out;
}

}  // namespace ares::config
