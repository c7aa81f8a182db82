// Permissions by the site's rules.
// Pure functions; any thread.
#pragma once

#include "model/policy/policy.h"

namespace ares::core {

bool is_admin(const Policy& policy,
              UserId uid);  // administrators, root and the user that the controller runs as
bool is_operator(const Policy& policy, UserId uid);  // operators and administrators

}  // namespace ares::core
