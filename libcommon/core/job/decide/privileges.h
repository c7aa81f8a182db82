// Who may do what, by the site's rules.
// Pure functions; any thread.
#pragma once

#include "model/policy/policy.h"

namespace ares::core {

bool is_admin(const Policy& policy,
              UserId uid);  // administrators, root and the controller's own user
bool is_operator(const Policy& policy, UserId uid);  // operators, and whoever is an administrator

}  // namespace ares::core
