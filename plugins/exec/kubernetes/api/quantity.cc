#include "exec/kubernetes/api/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "base/printable.h"

namespace ares::kubernetes {
namespace {

using Wide = unsigned __int128;

constexpr std::size_t kMostDigits = 19;
constexpr int kMostExponent = 1000;

struct Suffix {
  std::string_view text;
  int power_of_10;
  int power_of_2;
};
constexpr std::array<Suffix, 16> kSuffixes{{{"", 0, 0},
                                            {"n", -9, 0},
                                            {"u", -6, 0},
                                            {"m", -3, 0},
                                            {"k", 3, 0},
                                            {"M", 6, 0},
                                            {"G", 9, 0},
                                            {"T", 12, 0},
                                            {"P", 15, 0},
                                            {"E", 18, 0},
                                            {"Ki", 0, 10},
                                            {"Mi", 0, 20},
                                            {"Gi", 0, 30},
                                            {"Ti", 0, 40},
                                            {"Pi", 0, 50},
                                            {"Ei", 0, 60}}};

// mantissa * 10^power_of_10 * 2^power_of_2
struct Amount {
  std::uint64_t mantissa = 0;
  int power_of_10 = 0;
  int power_of_2 = 0;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

tl::unexpected<Error> refuse(std::string_view text, const char* why) {
  return fail(ErrorCode::invalid_argument, "quantity " + quote(text) + " " + why);
}

// The decimal number at the beginning; takes it away from `rest`. None: there is none, or it has too many digits.
std::optional<Amount> take_number(std::string_view& rest) {
  std::string digits;
  int fraction = 0;
  bool point = false;
  bool any = false;
  for (; !rest.empty() && (is_digit(rest[0]) || (rest[0] == '.' && !point));
       rest.remove_prefix(1)) {
    if (rest[0] == '.') {
      point = true;
      continue;
    }
    any = true;
    if (point) ++fraction;
    if (!digits.empty() || rest[0] != '0') digits += rest[0];
    if (fraction > kMostExponent) return std::nullopt;
  }
  if (!any) return std::nullopt;
  Amount amount{0, -fraction, 0};
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++amount.power_of_10;
  }
  if (digits.size() > kMostDigits) return std::nullopt;
  for (const char digit : digits)
    amount.mantissa = amount.mantissa * 10 + static_cast<std::uint64_t>(digit - '0');
  return amount;
}

// What follows the number: a suffix or an exponent.
bool take_suffix(std::string_view rest, Amount& amount) {
  const auto known = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                  [&](const Suffix& suffix) { return suffix.text == rest; });
  if (known != kSuffixes.end()) {
    amount.power_of_10 += known->power_of_10;
    amount.power_of_2 = known->power_of_2;
    return true;
  }
  if (rest[0] != 'e' && rest[0] != 'E') return false;
  rest.remove_prefix(1);
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  if (rest.empty()) return false;
  int exponent = 0;
  for (const char c : rest) {
    if (!is_digit(c)) return false;
    exponent = std::min(exponent * 10 + (c - '0'), kMostExponent);
  }
  amount.power_of_10 += negative ? -exponent : exponent;
  return true;
}

// The amount in units of 10^-`scale`, rounded up; none: it does not fit.
std::optional<std::int64_t> in_units(Amount amount, int scale) {
  if (amount.mantissa == 0) return 0;
  const int tens = amount.power_of_10 + scale;
  // As 2^twos * 5^fives, so that powers of two cancel and the product below fits where the result does.
  const int twos = amount.power_of_2 + tens;
  const int fives = tens;
  Wide value = amount.mantissa;
  Wide divisor = 1;
  const auto times = [](Wide& product, unsigned factor, int count) {
    for (; count > 0; --count)
      if (__builtin_mul_overflow(product, Wide{factor}, &product)) return false;
    return true;
  };
  if (!times(value, 2, twos) || !times(value, 5, fives)) return std::nullopt;
  // A divisor that does not fit is larger than any value here: the result is less than one unit.
  if (!times(divisor, 2, -twos) || !times(divisor, 5, -fives)) return 1;
  const Wide result = value / divisor + (value % divisor != 0 ? 1 : 0);
  if (result > Wide{std::numeric_limits<std::int64_t>::max()}) return std::nullopt;
  return static_cast<std::int64_t>(result);
}

Result<std::int64_t> parse(std::string_view text, int scale) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  auto amount = take_number(rest);
  if (!amount)
    return refuse(text,
                  "is not a number with at most 19 significant digits, such as 250m, 2 or 1.5Gi");
  if (!take_suffix(rest, *amount))
    return refuse(text,
                  "has an unknown suffix; known are n u m k M G T P E Ki Mi Gi Ti Pi Ei and e3");
  if (negative && amount->mantissa != 0) return refuse(text, "is negative");
  const auto value = in_units(*amount, scale);
  if (!value) return refuse(text, "is too large");
  return *value;
}

}  // namespace

Result<std::int64_t> parse_thousandths(std::string_view text) {
  return parse(text, 3);
}

Result<std::int64_t> parse_count(std::string_view text) {
  return parse(text, 0);
}

Result<Bytes> parse_bytes(std::string_view text) {
  return parse(text, 0).map([](std::int64_t count) { return Bytes(count); });
}

}  // namespace ares::kubernetes
