// What ashare is asked on its command line, and what it says about itself.
// Owned by main; one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/options/frame.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::ashare {

struct Query {
  cli::Common common;
  std::vector<std::string> accounts, users, format;
  bool all = false;         // every user, not only who asks
  bool users_only = false;  // no lines of accounts
  bool wide = false;        // -l
  bool no_header = false;
  bool parsable = false;  // -P
  bool trailing = false;  // -p: with a bar behind the last as well
  bool json = false;
};

cli::OptionTable options(Query& query);
cli::Manual manual();

}  // namespace ares::ashare
