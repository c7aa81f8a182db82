#include "aresctld/identity.h"

#include <pwd.h>
#include <unistd.h>

#include <charconv>
#include <vector>

namespace ares::aresctld {
namespace {

constexpr auto kRemember = std::chrono::minutes(5);

std::vector<char> passwd_buffer() {
  const long size = sysconf(_SC_GETPW_R_SIZE_MAX);
  return std::vector<char>(size > 0 ? static_cast<std::size_t>(size) : 16384);
}

}  // namespace

std::string Identity::name_of(UserId uid) {
  const auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard lock(mutex_);
    const auto found = names_.find(uid);
    if (found != names_.end() && found->second.until > now) return found->second.name;
  }
  auto buffer = passwd_buffer();
  passwd entry{};
  passwd* result = nullptr;
  getpwuid_r(uid.value(), &entry, buffer.data(), buffer.size(), &result);
  std::string name = result ? result->pw_name : std::to_string(uid.value());
  std::lock_guard lock(mutex_);
  names_[uid] = {name, now + kRemember};
  return name;
}

std::optional<UserId> Identity::uid_of(const std::string& name) {
  auto buffer = passwd_buffer();
  passwd entry{};
  passwd* result = nullptr;
  getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &result);
  if (result) return UserId(result->pw_uid);
  std::uint32_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  if (error == std::errc{} && end == name.data() + name.size()) return UserId(uid);
  return std::nullopt;
}

}  // namespace ares::aresctld
