#include "acluster/layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "os/file.h"

namespace ares::acluster {
namespace {

// The longest path below the run folder, and the space that sockaddr_un leaves for the folder's own
// path.
constexpr std::string_view kLongestSocket = "/pg/.s.PGSQL.5432.lock";
constexpr std::size_t kSocketPath = 107;

void set_sockets(Layout& layout, const std::string& run) {
  layout.postgres_run = run + "/pg";
  layout.munge_socket = run + "/munge/munge.sock";
  layout.controller_socket = run + "/aresctld.sock";
}

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

Status make_passable(const std::string& dir) {
  struct stat status {};
  if (::stat(dir.c_str(), &status) != 0) return fail(os::errno_error("cannot look at " + dir));
  if ((status.st_mode & 011) == 011) return {};
  if (::chmod(dir.c_str(), (status.st_mode & 07777) | 011) != 0)
    return fail(os::errno_error("cannot make " + dir + " passable for other users"));
  return {};
}

Status make_run_folder(Layout& layout) {
  const std::string run = layout.run();
  if (const std::string target = link_target(run); !target.empty()) {
    if (is_own_folder(target)) return set_sockets(layout, target), Status{};
    // The short folder was removed by a reboot or a cleanup of /tmp.
    if (::unlink(run.c_str()) != 0) return fail(os::errno_error("cannot remove " + run));
  }
  if (run.size() + kLongestSocket.size() <= kSocketPath) {
    if (auto made = os::make_directories(run, 0755); !made) return made;
    return set_sockets(layout, run), Status{};
  }
  std::string short_run = "/tmp/ares-XXXXXX";
  if (!::mkdtemp(short_run.data())) return fail(os::errno_error("cannot make a folder in /tmp"));
  if (::chmod(short_run.c_str(), 0755) != 0 || ::symlink(short_run.c_str(), run.c_str()) != 0)
    return fail(os::errno_error("cannot link " + run + " to " + short_run));
  return set_sockets(layout, short_run), Status{};
}

}  // namespace

Result<Layout> layout_of(const std::string& dir) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(dir, error).lexically_normal();
  if (error) return fail(ErrorCode::invalid_argument, dir + ": " + error.message());
  Layout layout;
  layout.dir = absolute.string();
  while (layout.dir.size() > 1 && layout.dir.ends_with('/')) layout.dir.pop_back();
  if (layout.dir.find_first_of("'\"\n\\") != std::string::npos)
    return fail(ErrorCode::invalid_argument,
                "--dir must not contain quotes, backslashes or line breaks: " + layout.dir);
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::internal, "cannot find myself: " + error.message());
  layout.bin = self.parent_path().string();
  return layout;
}

Status make_folders(Layout& layout) {
  for (const std::string& path :
       {layout.dir, layout.procs(), layout.logs(), layout.state(), layout.spool(), layout.munge()})
    if (auto made = os::make_directories(path, 0755); !made) return made;
  if (auto passable = make_passable(layout.dir); !passable) return passable;
  return make_run_folder(layout);
}

Status make_closed_folder(const std::string& path) {
  if (auto made = os::make_directories(path, 0700); !made) return made;
  if (::chmod(path.c_str(), 0700) != 0)
    return fail(os::errno_error("cannot close " + path + " to other users"));
  return {};
}

Status find_run_folder(Layout& layout) {
  if (::access(layout.settings().c_str(), F_OK) != 0)
    return fail(ErrorCode::not_found,
                layout.dir + " holds no cluster; make one with: acluster up --dir " + layout.dir);
  const std::string target = link_target(layout.run());
  set_sockets(layout, target.empty() ? layout.run() : target);
  return {};
}

void remove_run_folder(const Layout& layout) {
  const std::string target = link_target(layout.run());
  std::error_code ignored;  // A failed removal is harmless: the sockets have no listener.
  if (!target.empty() && target.starts_with("/tmp/ares-") && is_own_folder(target))
    std::filesystem::remove_all(target, ignored);
  std::filesystem::remove_all(layout.run(), ignored);
}

}  // namespace ares::acluster
