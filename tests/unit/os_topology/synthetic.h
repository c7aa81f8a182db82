// Machines that hwloc finds instead of the one that the test runs on. One thread: the environment of
// the process is changed.
#pragma once

#include <cstdlib>
#include <string>

namespace ares::os {

// Sets a variable of hwloc until it is destroyed.
class ReplacedMachine {
 public:
  ReplacedMachine(std::string variable, const std::string& value) : variable_(std::move(variable)) {
    ::setenv(variable_.c_str(), value.c_str(), 1);
  }
  ~ReplacedMachine() { ::unsetenv(variable_.c_str()); }
  ReplacedMachine(const ReplacedMachine&) = delete;
  ReplacedMachine& operator=(const ReplacedMachine&) = delete;

 private:
  std::string variable_;
};

}  // namespace ares::os
