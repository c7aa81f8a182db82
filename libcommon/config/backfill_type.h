// How ares.yaml writes the rules of backfill: "none", "easy", "easy:4", "conservative".
// Internal to config/; each function makes an immutable row for the tables.
#pragma once

#include <map>
#include <string>

#include "config/fields.h"
#include "model/policy/policy.h"

namespace ares::config {

Type<Backfill> backfill_type();
Type<std::map<std::string, Backfill>> backfill_map_type();  // {debug: none}

}  // namespace ares::config
