// What is to run in the pod of an attempt on one node. A value; any thread.
#pragma once

#include <string>
#include <vector>

#include "node/step_spec.h"

namespace ares::kubernetes {

struct Launch {
  node::StepSpec spec;
  std::string script, environment;    // as submitted
  std::vector<std::string> groups{};  // names of the user's, for grants
  bool is_output_stored = false;      // by the controller, where it is in no file
};

}  // namespace ares::kubernetes
