// The command line of aresd. Read once by main().
#pragma once

#include <string>

#include "base/result.h"

namespace ares::aresd {

struct Arguments {
  std::string config;
  std::string nodes;          // a host list; without --node this machine
  bool nodes_given = false;   // by --node
  std::string confirm_ended;  // an attempt
  bool join = false;          // the node need not be configured
  std::string discover;       // a source: prints the GPUs that it finds
  std::string discover_here;  // the same in this process
  bool watch_gpus_here = false;
};

// --help and --version print their text and end the process.
Result<Arguments> parse_arguments(int argc, char** argv);

}  // namespace ares::aresd
