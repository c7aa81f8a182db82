#include "model/job/image_name.h"

#include <algorithm>
#include <cctype>

#include "model/job/container.h"

namespace ares {

bool is_image_name(std::string_view name) {
  const auto is_allowed = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || std::string_view("._-/:@").find(static_cast<char>(c)) !=
                                               std::string_view::npos);
  };
  return !name.empty() && name.size() <= kLongestImageName &&
         std::isalnum(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace ares
