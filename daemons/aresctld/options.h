// The command line and the logging of aresctld.
// Used once, by main, before any thread exists.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "config/config.h"

namespace ares::aresctld {

struct Options {
  std::string config;
  bool check = false;
  bool accept_rollback = false;
  std::optional<std::string> text;  // print this and exit
};

Result<Options> parse_options(int argc, char** argv);

Status start_log(const config::LogConfig& log);

}  // namespace ares::aresctld
