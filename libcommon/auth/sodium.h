// libsodium, made ready before its first use.
// Pure function; any thread. Private to auth/.
#pragma once

namespace ares::auth {

// Picks the implementations for this processor and opens the source of random numbers, once. Ends
// the process where there is none: without it no key is secret.
void ensure_sodium();

}  // namespace ares::auth
