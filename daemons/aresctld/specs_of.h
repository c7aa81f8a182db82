// The specifications of jobs that a command brings along. Pure; any thread.
#pragma once

#include <variant>

#include "model/engine/command.h"

namespace ares::aresctld {

// Calls `use` with each. `Body`: UserBody, const or not.
template <class Body, class Use>
void for_each_spec(Body& body, Use use) {
  if (auto* one = std::get_if<Submit>(&body)) use(one->spec);
  if (auto* many = std::get_if<SubmitMany>(&body))
    for (auto& spec : many->specs) use(spec);
  if (auto* update = std::get_if<UpdateJob>(&body); update && update->values) use(update->values);
}

}  // namespace ares::aresctld
