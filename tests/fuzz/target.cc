#include "fuzz/target.h"

#include <google/protobuf/stubs/logging.h>
#include <sanitizer/allocator_interface.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/printable.h"

namespace ares::fuzz {
namespace {

// Hooks of the allocator have no context.
std::size_t allocated_bytes = 0;

void count_allocation(const volatile void*, std::size_t size) {
  allocated_bytes += size;
}
void ignore_release(const volatile void*) {}

}  // namespace

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void require_fit_to_show(std::string_view message) {
  require(!message.empty(), "a refusal says why");
  require(message.size() <= kLongestMessage, "a message repeats little of the input");
  require(is_utf8(message), "a message is UTF-8: " + excerpt(message));
  require(!has_control(message), "a message has no control characters: " + excerpt(message));
}

void require_refusal(const Error& error) {
  require_fit_to_show(error.message);
  require(error.code != ErrorCode::internal, "wrong input is not a bug: " + error.message);
}

}  // namespace ares::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);  // it writes a line about each text that is not UTF-8
  __sanitizer_install_malloc_and_free_hooks(ares::fuzz::count_allocation,
                                            ares::fuzz::ignore_release);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ares::fuzz;
  allocated_bytes = 0;
  try_input({reinterpret_cast<const char*>(data), size});
  const std::size_t used = allocated_bytes;
  const std::size_t allowed = kAllowance.fixed + size * kAllowance.per_byte;
  require(used <= allowed, "allocates " + std::to_string(used) + " bytes for " +
                               std::to_string(size) + "; allowed are " + std::to_string(allowed));
  return 0;
}
