// What a refusal adds of a node with GPUs of several types, where GPUs of any one type were asked for.
// Pure; any thread.
#pragma once

#include <string>

#include "model/cluster/node.h"

namespace ares::core {

// " of one type; n3 has 4 of 2 types: gpu:a100:2,gpu:h100:2"; empty if it has one type or none.
std::string one_type_text(const Node& node);

}  // namespace ares::core
