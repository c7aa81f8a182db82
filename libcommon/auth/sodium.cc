#include "auth/sodium.h"

#include <cstdio>
#include <cstdlib>

#include <sodium.h>

namespace ares::auth {

void ensure_sodium() {
  static const bool ready = sodium_init() >= 0;
  if (ready) return;
  std::fputs("no source of random numbers: is /dev/urandom there?\n", stderr);
  std::abort();
}

}  // namespace ares::auth
