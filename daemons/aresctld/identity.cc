#include "aresctld/identity.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <vector>

namespace ares::aresctld {
namespace {

constexpr auto kRemember = std::chrono::minutes(5);

// Calls a reentrant look-up and grows the buffer until the entry fits.
template <class Entry, class Lookup>
const Entry* look_up(Entry& entry, std::vector<char>& buffer, Lookup&& lookup) {
  const Entry* found = nullptr;
  buffer.resize(16384);
  while (lookup(&entry, buffer.data(), buffer.size(), const_cast<Entry**>(&found)) == ERANGE)
    buffer.resize(buffer.size() * 2);
  return found;
}

std::optional<std::uint32_t> number(const std::string& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string Identity::name_of(UserId uid) {
  const auto now = std::chrono::steady_clock::now();
  {
    const Lock lock(mutex_);
    const auto found = names_.find(uid);
    if (found != names_.end() && found->second.until > now) return found->second.name;
  }
  passwd entry{};
  std::vector<char> buffer;
  const passwd* found =
      look_up(entry, buffer, [&](auto... more) { return getpwuid_r(uid.value(), more...); });
  std::string name = found ? found->pw_name : std::to_string(uid.value());
  const Lock lock(mutex_);
  names_[uid] = {name, now + kRemember};
  return name;
}

std::string Identity::name_of(GroupId gid) {
  const auto now = std::chrono::steady_clock::now();
  {
    const Lock lock(mutex_);
    const auto found = groups_.find(gid);
    if (found != groups_.end() && found->second.until > now) return found->second.name;
  }
  group entry{};
  std::vector<char> buffer;
  const group* found =
      look_up(entry, buffer, [&](auto... more) { return getgrgid_r(gid.value(), more...); });
  std::string name = found ? found->gr_name : std::to_string(gid.value());
  const Lock lock(mutex_);
  groups_[gid] = {name, now + kRemember};
  return name;
}

std::optional<UserId> Identity::uid_of(const std::string& name) {
  passwd entry{};
  std::vector<char> buffer;
  const passwd* found =
      look_up(entry, buffer, [&](auto... more) { return getpwnam_r(name.c_str(), more...); });
  if (found) return UserId(found->pw_uid);
  if (const auto value = number(name)) return UserId(*value);
  return std::nullopt;
}

std::optional<GroupId> Identity::gid_of(const std::string& name) {
  group entry{};
  std::vector<char> buffer;
  const group* found =
      look_up(entry, buffer, [&](auto... more) { return getgrnam_r(name.c_str(), more...); });
  if (found) return GroupId(found->gr_gid);
  if (const auto value = number(name)) return GroupId(*value);
  return std::nullopt;
}

}  // namespace ares::aresctld
