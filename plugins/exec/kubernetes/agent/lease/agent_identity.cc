#include "exec/kubernetes/agent/lease/agent_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>

#include "base/printable.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/file.h"

namespace ares::kubernetes {
namespace {

// The part after the last '_', which is taken off.
std::string_view take_last(std::string_view& text) {
  const std::size_t at = text.rfind('_');
  if (at == std::string_view::npos) return {};
  const std::string_view part = text.substr(at + 1);
  text.remove_suffix(part.size() + 1);
  return part;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

// It runs nothing any more, but its parent has not waited for it.
bool is_zombie(std::int64_t pid) {
  const Result<std::string> stat = os::read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return false;
  const std::size_t name_end = stat->rfind(')');  // the name may have any character
  return name_end != std::string::npos && name_end + 2 < stat->size() &&
         ((*stat)[name_end + 2] == 'Z' || (*stat)[name_end + 2] == 'X');
}

}  // namespace

std::string encode(const AgentIdentity& identity) {
  return identity.host + "_" + std::to_string(identity.pid) + "_" +
         std::to_string(identity.started) + "_" + std::to_string(identity.pid_space) + "_" +
         identity.boot_id;
}

std::optional<AgentIdentity> parse_identity(std::string_view text) {
  AgentIdentity identity;
  identity.boot_id = take_last(text);
  const std::string_view space = take_last(text), started = take_last(text), pid = take_last(text);
  identity.host = text;
  if (identity.host.empty() || identity.boot_id.empty() || !read_number(pid, identity.pid) ||
      !read_number(started, identity.started) || !read_number(space, identity.pid_space))
    return std::nullopt;
  return identity;
}

std::string describe_holder(std::string_view holder) {
  const std::optional<AgentIdentity> agent = parse_identity(holder);
  if (!agent) return quote(holder);
  return printable(agent->host) + " (process " + std::to_string(agent->pid) + ")";
}

Result<AgentIdentity> this_agent() {
  AgentIdentity self;
  char host[HOST_NAME_MAX + 1] = "";
  if (::gethostname(host, sizeof host - 1) != 0)
    return fail(os::errno_error("cannot read the name of this machine"));
  self.host = host;
  if (self.host.empty()) self.host = "localhost";
  self.pid = ::getpid();
  self.started = os::process_start_ticks(self.pid);
  struct stat space {};
  if (self.started == 0 || ::stat("/proc/self/ns/pid", &space) != 0)
    return fail(ErrorCode::failed_precondition,
                "cannot read what /proc says of this process: mount /proc");
  self.pid_space = space.st_ino;
  Result<std::string> boot = os::boot_id();
  if (!boot) return fail(boot.error());
  self.boot_id = std::move(*boot);
  return self;
}

bool has_ended(const AgentIdentity& process, const AgentIdentity& self) {
  if (process.boot_id != self.boot_id || process.pid_space != self.pid_space) return false;
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return true;
  // 0: its end is not known, since /proc may hide processes of other users.
  const std::uint64_t started = os::process_start_ticks(process.pid);
  return (started != 0 && started != process.started) || is_zombie(process.pid);
}

}  // namespace ares::kubernetes
