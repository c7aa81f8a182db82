#include "os/job_slice.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

#include "os/fd.h"
#include "os/file.h"
#include "os/sweep.h"

namespace ares::os {
namespace {

constexpr std::string_view kOurs = "ares.";  // all groups that we make begin with it
constexpr int kTries = 3;                    // another daemon may remove an empty slice meanwhile

bool write_value(const std::string& path, std::string_view value) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::string first_line(const std::string& path) {
  const std::string text = read_file(path).value_or("");
  return text.substr(0, text.find('\n'));
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Of the program that a process executes; empty if the process has gone. "?" if that is not known.
std::string program_of(const std::string& pid) {
  char target[4096];
  const ssize_t size = ::readlink(("/proc/" + pid + "/exe").c_str(), target, sizeof target);
  if (size < 0) return errno == ENOENT || errno == ESRCH ? "" : "?";
  std::string name = name_of(std::string(target, static_cast<std::size_t>(size)));
  constexpr std::string_view kReplaced = " (deleted)";
  if (name.ends_with(kReplaced)) name.resize(name.size() - kReplaced.size());
  return name;
}

// A process in the group that executes none of these programs, as "process 12 (bash)".
std::optional<std::string> find_stranger(const std::string& group,
                                         const std::set<std::string>& ours) {
  std::istringstream pids(read_file(group + "/cgroup.procs").value_or(""));
  for (std::string pid; pids >> pid;) {
    const std::string program = program_of(pid);
    if (!program.empty() && !ours.contains(program)) return "process " + pid + " (" + program + ")";
  }
  return std::nullopt;
}

bool is_slice(const std::string& group) {
  const std::string name = name_of(group);
  return name == kJobsUnit || name == kJobsGroup;
}

// Whether the group is that of a job, or in one. A daemon that a job has started must not take its own jobs
// out of what the job was given.
bool in_a_job(const Hierarchy& hierarchy) {
  std::istringstream names(hierarchy.own.substr(hierarchy.root.size()));
  for (std::string name; std::getline(names, name, '/');)
    if (name.starts_with(kOurs) && name.size() > kOurs.size() &&
        std::isdigit(static_cast<unsigned char>(name[kOurs.size()])))
      return true;
  return false;
}

// A v1 cpuset takes no process before it has CPUs and memory nodes.
void fill_cpuset(const std::string& group) {
  for (const char* file : {"/cpuset.cpus", "/cpuset.mems"})
    if (first_line(group + file).empty())
      write_value(group + file, first_line(parent_of(group) + file));
}

// Lets the children of a v2 group have its controllers.
void pass_controllers(const std::string& group) {
  const std::string file = group + "/cgroup.subtree_control";
  std::istringstream controllers(first_line(group + "/cgroup.controllers"));
  std::istringstream passed(first_line(file));
  const std::set<std::string> already{std::istream_iterator<std::string>(passed), {}};
  for (std::string controller; controllers >> controller;)
    if (!already.contains(controller)) write_value(file, "+" + controller);
}

bool make_directory(const std::string& path) {
  return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

// Makes the slice, and the group in it for supervisors, whose path it returns.
Result<std::string> make_slice(const std::string& slice, bool unified) {
  if (!is_directory(slice)) {
    if (unified) pass_controllers(parent_of(slice));
    if (!make_directory(slice)) return fail(errno_error("cannot make " + slice));
  }
  std::string enter = slice;
  if (unified) {
    pass_controllers(slice);
    enter += "/" + std::string(kSupervisorsGroup);
    if (!make_directory(enter)) return fail(errno_error("cannot make " + enter));
  } else if (::access((slice + "/cpuset.cpus").c_str(), F_OK) == 0) {
    fill_cpuset(slice);
  }
  if (::access((enter + "/cgroup.procs").c_str(), W_OK) != 0)
    return fail(errno_error("cannot write to " + enter));
  return enter;
}

JobSlice::Place place_in(Hierarchy hierarchy, const std::set<std::string>& ours) {
  const std::string own = hierarchy.own;
  const bool unified = hierarchy.controllers.empty();
  JobSlice::Place place{std::move(hierarchy), own, {}, {}};
  if (own == place.hierarchy.root) {
    if (unified) pass_controllers(own);
    return place;
  }
  if (unified && name_of(own) == kSupervisorsGroup) place.groups = parent_of(own);
  if (is_slice(place.groups)) return place;  // entered already
  if (in_a_job(place.hierarchy)) {
    place.stays = "aresd runs in a job itself";
    return place;
  }
  if (const auto stranger = find_stranger(own, ours)) {
    place.stays = *stranger + " is in it, too";
    return place;
  }
  const std::string beside = parent_of(own) + "/";
  std::string slice = beside + std::string(kJobsUnit);
  if (!is_directory(slice)) slice = beside + std::string(kJobsGroup);
  if (Result<std::string> enter = make_slice(slice, unified)) {
    place.groups = slice;
    place.enter = *enter;
  } else {
    place.stays = enter.error().message;
  }
  return place;
}

}  // namespace

JobSlice JobSlice::make(const Hierarchies& own, pid_t daemon) {
  const std::set<std::string> ours{"aresd", "aresstepd", program_of("self"),
                                   program_of(std::to_string(daemon))};
  JobSlice slice;
  for (Hierarchy& hierarchy : own.all())
    slice.places_.push_back(place_in(std::move(hierarchy), ours));
  return slice;
}

// As the kernel would tell them to a process that sees all hierarchies where they are mounted.
Hierarchies JobSlice::hierarchies() const {
  std::string mounts, self;
  for (const Place& place : places_) {
    const std::string& controllers = place.hierarchy.controllers;
    const std::string type = controllers.empty() ? "cgroup2" : "cgroup";
    const std::string path = place.groups.substr(place.hierarchy.root.size());
    mounts += "0 0 0:0 / " + place.hierarchy.root + " rw - " + type + " " + type + " rw," +
              controllers + "\n";
    self += "0:" + controllers + ":" + (path.empty() ? "/" : path) + "\n";
  }
  return {std::move(mounts), std::move(self)};
}

Status JobSlice::enter(pid_t pid) const {
  Status status;
  for (const Place& place : places_) {
    if (place.enter.empty()) continue;
    bool entered = false;
    for (int i = 0; i < kTries && !entered; ++i) {
      entered = write_value(place.enter + "/cgroup.procs", std::to_string(pid));
      if (entered || errno != ENOENT) break;
      (void)make_slice(place.groups, place.hierarchy.controllers.empty());
    }
    if (!entered)
      status =
          fail(errno_error("cannot move process " + std::to_string(pid) + " into " + place.enter));
  }
  return status;
}

void JobSlice::remove_leftovers() const {
  for (const Place& place : places_)
    // Of the own group: from before there was a slice.
    for (const std::string& parent : std::set<std::string>{place.groups, place.hierarchy.own})
      remove_left_groups(parent);
}

void JobSlice::remove() const {
  for (const Place& place : places_) {
    if (place.enter.empty()) continue;
    if (place.enter != place.groups) ::rmdir(place.enter.c_str());
    if (name_of(place.groups) == kJobsGroup) ::rmdir(place.groups.c_str());
  }
}

void leave_daemon_groups() {
  const Result<Hierarchies> own = Hierarchies::of_this_process();
  // aresd has logged what cannot be left.
  if (own) (void)JobSlice::make(*own, ::getppid()).enter(::getpid());
}

}  // namespace ares::os
