// What one ainfo line asks for.
// Owned by ainfo's main thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::ainfo {

struct Query {
  cli::Common common;
  std::vector<std::string> partitions;
  std::vector<std::string> states;  // as typed, lower case
  std::string nodes;
  std::string format;
  bool summary = false;
  bool each_node = false;
  bool long_format = false;
  bool reasons = false;
  bool responding = false;
  bool dead = false;
  bool no_header = false;
  bool json = false;
};

cli::OptionTable options(Query& target);
const cli::Manual& manual();

std::string format_of(const Query& query);

// The nodes that pass --states, --responding and --dead, by name.
std::vector<const api::Node*> select(const Query& query, const api::Nodes& nodes);

// The listing as it is printed.
Result<std::string> print(const Query& query, const api::Partitions& partitions,
                          const api::Nodes& nodes);

}  // namespace ares::ainfo
