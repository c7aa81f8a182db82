// Layout: where everything of one private cluster lies under its directory.
// A plain value; any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace ares::acluster {

struct Layout {
  std::string dir;  // absolute
  std::string bin;  // where the programs of Ares are: beside acluster

  std::string config() const { return dir + "/ares.yaml"; }
  std::string base_config() const { return dir + "/base.yaml"; }  // the user's, as given
  std::string settings() const { return dir + "/settings"; }
  std::string lock() const { return dir + "/lock"; }
  std::string procs() const { return dir + "/procs"; }  // one file each: who runs
  std::string record(const std::string& role) const { return procs() + "/" + role; }
  std::string logs() const { return dir + "/log"; }
  std::string log(const std::string& role) const { return logs() + "/" + role + ".log"; }
  std::string state() const { return dir + "/state"; }
  std::string spool() const { return dir + "/spool"; }
  std::string munge() const { return dir + "/munge"; }
  std::string postgres_data() const { return dir + "/pg"; }

  // Sockets. A Unix socket's path may have 107 characters, so for a long DIR this is a link to a short folder.
  std::string run() const { return dir + "/run"; }
  std::string postgres_run;  // real paths, short enough
  std::string munge_socket;
  std::string controller_socket;
};

// The layout of `dir`, which need not exist. not_found when the programs are not beside acluster.
Result<Layout> layout_of(const std::string& dir);

// Makes what is missing, and the run folder, and completes the paths of sockets. `dir` is made passable for other users, for
// jobs and PostgreSQL run as such.
Status make_folders(Layout& layout);

// Completes the paths of sockets of a cluster that was made before; not_found if there is none.
Status find_run_folder(Layout& layout);

// Removes the run folder, and what the link points to.
void remove_run_folder(const Layout& layout);

}  // namespace ares::acluster
