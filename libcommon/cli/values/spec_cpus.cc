// Parses --cpus-per-task: whole CPUs, or a fraction of them (spec_values.h).
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/spec_values.h"
#include "model/cluster/resources.h"

namespace ares::cli {
namespace {

constexpr std::int64_t kMostCpus = 1'000'000'000;
constexpr std::uint64_t kMostThousandths = kMostCpus;  // a million CPUs

bool are_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Of digits only; none if they are too many.
std::optional<std::uint64_t> number_in(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && number <= kMostThousandths ? std::optional(number) : std::nullopt;
}

tl::unexpected<Error> not_cpus(const std::string& text) {
  return invalid(quote(text) +
                 " is not a number of CPUs from 0.001 to 1000000: write 2, 0.5 or 500m, with three "
                 "decimals at most");
}

Status set_thousandths(api::JobSpec& spec, std::uint64_t thousandths) {
  spec.set_cpus_per_task(static_cast<std::uint32_t>(whole_cpus(thousandths)));
  const bool is_whole = thousandths % kWholeCpu == 0;
  spec.set_cpu_thousandths_per_task(is_whole ? 0 : static_cast<std::uint32_t>(thousandths));
  return {};
}

}  // namespace

Status set_cpus_per_task(api::JobSpec& spec, const std::string& text) {
  const std::string_view all = text;
  if (all.ends_with('m') && are_digits(all.substr(0, all.size() - 1))) {
    const auto thousandths = number_in(all.substr(0, all.size() - 1));
    if (!thousandths || *thousandths == 0) return not_cpus(text);
    return set_thousandths(spec, *thousandths);
  }
  const std::size_t point = all.find('.');
  if (point == std::string_view::npos) {
    const auto number = parse_integer(text, 1, kMostCpus);
    if (!number) return are_digits(all) ? tl::unexpected(number.error()) : not_cpus(text);
    spec.set_cpus_per_task(static_cast<std::uint32_t>(*number));
    spec.clear_cpu_thousandths_per_task();
    return {};
  }
  const std::string_view whole = all.substr(0, point), decimals = all.substr(point + 1);
  if ((!whole.empty() && !are_digits(whole)) || !are_digits(decimals) || decimals.size() > 3)
    return not_cpus(text);
  const auto cpus = whole.empty() ? std::optional<std::uint64_t>(0) : number_in(whole);
  if (!cpus) return not_cpus(text);
  std::uint64_t thousandths = *cpus;
  for (std::size_t i = 0; i < 3; ++i)
    thousandths =
        thousandths * 10 +
        (i < decimals.size() ? static_cast<std::uint64_t>(decimals[i] - '0') : std::uint64_t{0});
  if (thousandths == 0 || thousandths > kMostThousandths) return not_cpus(text);
  return set_thousandths(spec, thousandths);
}

}  // namespace ares::cli
