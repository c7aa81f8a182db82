// The query described by an ashare command line. Owned by main; one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/options/frame.h"
#include "cli/output/document.h"

namespace ares::ashare {

struct Query {
  cli::CommonOptions common;
  std::vector<std::string> accounts, users, format;
  bool all = false;         // All users instead of the calling user only.
  bool users_only = false;  // no lines of accounts
  bool wide = false;        // -l
  bool no_header = false;
  bool parsable = false;  // -P
  bool trailing = false;  // -p: a bar after the last field as well.
  cli::Document document;
};

}  // namespace ares::ashare
