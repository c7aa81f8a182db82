#include "cli/options/repeat.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

#include "cli/options/frame.h"

namespace ares::cli {
namespace {

void print_date() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a %b %d %H:%M:%S %Y", &local);
  std::puts(text.data());
}

}  // namespace

Result<int> repeat(std::string_view program, std::int64_t seconds,
                   const std::function<Status()>& show) {
  if (seconds == 0) {
    if (Status shown = show(); !shown) return fail(shown.error());
    return 0;
  }
  for (;;) {
    print_date();
    if (Status shown = show(); !shown) print_error(program, shown.error());
    std::puts("");
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
  }
}

}  // namespace ares::cli
