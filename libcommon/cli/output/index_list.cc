#include "cli/output/index_list.h"

#include <cstdlib>

#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::cli {
namespace {

constexpr std::size_t kUsual = 64;
constexpr std::size_t kMost = 100'000'000;
constexpr std::string_view kRest = "...";

}  // namespace

Result<std::size_t> longest_index_list() {
  if (const char* own = std::getenv("ARES_BITSTR_LEN"); own && *own) {
    const auto number = parse_number(own, kMost);
    if (!number)
      return fail(ErrorCode::invalid_argument,
                  "ARES_BITSTR_LEN: " + quote(own) + " is not a number of characters; 0 for all");
    return *number;
  }
  const char* slurm = std::getenv("SLURM_BITSTR_LEN");
  return slurm ? parse_number(slurm, kMost).value_or(kUsual) : kUsual;
}

std::string shortened_indices(std::string_view list, std::size_t most) {
  if (most == 0 || list.size() <= most) return std::string(list);
  if (most <= kRest.size()) return std::string(kRest);
  const std::size_t comma = list.rfind(',', most - kRest.size() - 1);
  if (comma == std::string_view::npos) return std::string(kRest);
  return std::string(list.substr(0, comma + 1)).append(kRest);
}

std::string shortened_id(std::string_view id, std::size_t width) {
  const std::size_t begin = id.find('[');
  if (id.size() <= width || begin == std::string_view::npos) return std::string(id);
  const std::size_t end = id.find_first_of("%]", begin);
  if (end == std::string_view::npos) return std::string(id);
  const std::string_view list = id.substr(begin + 1, end - begin - 1);
  const std::size_t rest = id.size() - list.size();
  return std::string(id.substr(0, begin + 1))
      .append(shortened_indices(list, width > rest ? width - rest : 1))
      .append(id.substr(end));
}

std::string describe_index_lists() {
  return "A list of array indices longer than 64 characters is cut: 12_[1,3,5,...]. The variable "
         "ARES_BITSTR_LEN, or else SLURM_BITSTR_LEN, sets another length; 0 shows all.";
}

}  // namespace ares::cli
