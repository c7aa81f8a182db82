#include "gres/found/found.h"

#include <algorithm>
#include <cctype>

namespace ares::gres {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}
std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Vendors and product lines, which do not distinguish the GPUs of one site.
constexpr std::string_view kLines[] = {"nvidia",   "tesla",  "quadro",      "geforce", "amd",
                                       "instinct", "radeon", "corporation", "graphics"};
// How a GPU is built in; what follows it does not name the model.
constexpr std::string_view kForms[] = {"pcie", "nvl", "hbm", "sxm", "mig"};

// "80gb", "sxm4": form, memory and so on.
bool ends_the_model(std::string_view word) {
  for (const std::string_view form : kForms)
    if (word.starts_with(form)) return true;
  return word.size() > 2 && word.ends_with("gb") && is_digit(word.front());
}

}  // namespace

std::string type_word(std::string_view name) {
  const std::string text = lower(name);
  std::string type;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      if (text[at] == '/' || text[at] == '(') break;  // "MI250X / MI250"
      ++at;
      continue;
    }
    const std::size_t end = static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_word) -
        text.begin());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    at = end;
    if (std::find(std::begin(kLines), std::end(kLines), word) != std::end(kLines)) continue;
    if (ends_the_model(word)) break;
    type += word;
  }
  return type.empty() ? "gpu" : type.substr(0, 32);
}

bool is_type_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  });
}

std::optional<std::string> pci_address(std::string_view text) {
  std::string address = lower(text);
  if (address.size() == 16 && address.starts_with("0000")) address.erase(0, 4);
  if (address.size() == 7) address.insert(0, "0000:");
  if (address.size() != 12 && address.size() != 16) return std::nullopt;
  const std::size_t domain = address.size() - 8;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const char wanted = i == domain || i == domain + 3 ? ':' : i == domain + 6 ? '.' : '0';
    const char c = address[i];
    const bool fits = wanted == '0' ? is_digit(c) || (c >= 'a' && c <= 'f') : c == wanted;
    if (!fits) return std::nullopt;
  }
  return address;
}

}  // namespace ares::gres
