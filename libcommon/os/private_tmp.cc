#include "os/private_tmp.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "os/fd.h"
#include "os/file.h"

namespace ares::os {
namespace {

struct Place {
  const char* seen_as;
  const char* name;
};
constexpr Place kPlaces[] = {{"/tmp", "tmp"}, {"/var/tmp", "var_tmp"}};

constexpr mode_t kParents = 0711;  // others may enter, not list
constexpr mode_t kShared = 01777;

}  // namespace

Status enter_private_tmp(const std::string& directory) {
  constexpr const char* kCannot = "cannot give the job a /tmp of its own";
  if (Status made = make_directories(directory, kParents); !made) return made;
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno_error(kCannot));
  // What is mounted here is not seen outside; what is mounted outside is seen here.
  if (::mount("none", "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0)
    return fail(errno_error(kCannot));
  for (const Place& place : kPlaces) {
    const std::string path = directory + "/" + place.name;
    if (::mkdir(path.c_str(), kShared) != 0 && errno != EEXIST)
      return fail(errno_error("cannot create directory " + path));
    if (::chmod(path.c_str(), kShared) != 0) return fail(errno_error("cannot open up " + path));
    if (::mount(path.c_str(), place.seen_as, nullptr, MS_BIND, nullptr) != 0)
      return fail(errno_error(std::string(kCannot) + ": " + place.seen_as));
  }
  return {};
}

bool hidden_by_private_tmp(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string() + "/";
  for (const Place& place : kPlaces)
    if (real.starts_with(std::string(place.seen_as) + "/")) return true;
  return false;
}

}  // namespace ares::os
