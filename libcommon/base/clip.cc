#include "base/clip.h"

namespace ares {

std::string clip(std::string_view text, std::size_t most) {
  constexpr std::string_view kMore = "...";
  constexpr int kMostContinuing = 3;  // bytes of a UTF-8 character after its first
  if (text.size() <= most) return std::string(text);
  std::size_t kept = most - kMore.size();
  const auto within = [&] { return (static_cast<unsigned char>(text[kept]) & 0xc0U) == 0x80U; };
  for (int i = 0; i < kMostContinuing && kept > 0 && within(); ++i) --kept;
  return std::string(text.substr(0, kept)).append(kMore);
}

}  // namespace ares
