#include "acluster/munge.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "os/file.h"

namespace ares::acluster {
namespace {

constexpr const char* kMunged = "/usr/sbin/munged";

std::string key_file(const Layout& layout) {
  return layout.munge() + "/munge.key";
}

std::string socket_folder(const Layout& layout) {
  return layout.munge_socket.substr(0, layout.munge_socket.rfind('/'));
}

}  // namespace

Status prepare_munge(const Layout& layout) {
  if (::access(kMunged, X_OK) != 0)
    return fail(ErrorCode::not_found, "munged is not installed; install the package munge");
  // Only daemons need munge: commands are told apart by the controller's socket.
  if (auto closed = make_closed_folder(socket_folder(layout)); !closed) return closed;
  const std::string path = key_file(layout);
  if (::access(path.c_str(), F_OK) == 0) return {};
  std::array<char, 128> key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    return fail(os::errno_error("cannot make a munge key"));
  // Written under a temporary name, so that an interruption never leaves a partial key.
  const std::string part = path + ".new";
  ::unlink(part.c_str());
  const os::Fd file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()) ||
      ::fsync(file.get()) != 0 || ::rename(part.c_str(), path.c_str()) != 0)
    return fail(os::errno_error("cannot write " + path));
  return {};
}

Launch munge_launch(const Layout& layout) {
  const std::string folder = layout.munge();
  Launch launch;
  // --force: a killed munged leaves its socket behind, the socket is closed to other users, and
  // group-writable parents such as a shared /tmp are acceptable here.
  launch.argv = {kMunged,
                 "--foreground",
                 "--force",
                 "--key-file=" + key_file(layout),
                 "--socket=" + layout.munge_socket,
                 "--pid-file=" + folder + "/munged.pid",
                 "--seed-file=" + folder + "/munged.seed",
                 "--log-file=" + folder + "/munged.log",
                 "--num-threads=2"};
  launch.log = layout.log("munged");
  launch.record = layout.record("munged");
  return launch;
}

}  // namespace ares::acluster
