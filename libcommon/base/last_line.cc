#include "base/last_line.h"

#include "base/clip.h"
#include "base/printable.h"

namespace ares {

std::string last_line(std::string_view output, std::size_t most) {
  const std::size_t end = output.find_last_not_of(" \t\r\n");
  output = output.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (const std::size_t newline = output.rfind('\n'); newline != std::string_view::npos)
    output.remove_prefix(newline + 1);
  return clip(printable(output), most);
}

}  // namespace ares
