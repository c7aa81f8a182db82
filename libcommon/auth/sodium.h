// Initialisation of libsodium before its first use.
// Pure function; any thread. Private to auth/.
#pragma once

namespace ares::auth {

// Selects the implementations for this CPU and opens the random number generator, once. Ends the
// process if there is none, because keys would not be secret.
void ensure_sodium();

}  // namespace ares::auth
