// Layout: the paths of a private cluster's files below its directory. A plain value; any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace ares::acluster {

struct Layout {
  std::string dir;  // Absolute.
  std::string bin;  // The folder of Ares's programs, which also contains acluster.

  std::string config() const { return dir + "/ares.yaml"; }
  // What acluster wrote there, by which a change by hand is seen.
  std::string written_config() const { return dir + "/written.yaml"; }
  // The user's configuration, unchanged.
  std::string base_config() const { return dir + "/base.yaml"; }
  // Of the daemon that serves the nodes of Kubernetes.
  std::string kubernetes_config() const { return dir + "/kubernetes.yaml"; }
  std::string settings() const { return dir + "/settings"; }
  std::string lock() const { return dir + "/lock"; }
  std::string procs() const { return dir + "/procs"; }  // One record file per running process.
  std::string record(const std::string& role) const { return procs() + "/" + role; }
  std::string logs() const { return dir + "/log"; }
  std::string log(const std::string& role) const { return logs() + "/" + role + ".log"; }
  std::string state() const { return dir + "/state"; }
  std::string spool() const { return dir + "/spool"; }
  std::string munge() const { return dir + "/munge"; }
  std::string postgres_data() const { return dir + "/pg"; }

  // The folder of sockets. A Unix socket's path is limited to 107 characters, so for a long DIR
  // this is a symbolic link to a folder with a short path.
  std::string run() const { return dir + "/run"; }
  std::string postgres_run;  // Real paths, short enough for sockets.
  std::string munge_socket;
  std::string controller_socket;
};

// The layout of `dir`, which need not exist. Returns not_found if the other programs are not in the
// folder of acluster.
Result<Layout> layout_of(const std::string& dir);

// Creates missing folders and the run folder, and fills in the socket paths. Gives other users
// search permission on `dir`, because jobs and PostgreSQL run as other users.
Status make_folders(Layout& layout);

// Creates a folder that only the caller may enter; one that exists is closed to others.
Status make_closed_folder(const std::string& path);

// Fills in the socket paths of an existing cluster. Returns not_found if there is none.
Status find_run_folder(Layout& layout);

// Removes the run folder, and the target if it is a link.
void remove_run_folder(const Layout& layout);

}  // namespace ares::acluster
