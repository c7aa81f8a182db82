#include "core/fairness/decay.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ares::core::fairness {
namespace {

constexpr std::uint64_t kOne = std::uint64_t{1} << 63;
constexpr std::uint64_t kOneOverLn2 = 13306513097844322492ULL;  // 2^63 / ln 2, to the nearest

// Product of numbers in [1/2, 1] in units of 2^-63, rounded to nearest.
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((U128{a} * b + (kOne >> 1)) >> 63);
}

constexpr std::uint64_t root(std::uint64_t a) {
  const U128 square = U128{a} << 63;
  std::uint64_t low = kOne >> 1, high = kOne;
  while (low < high) {  // binary search: the largest value whose square is at most `square`
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (U128{middle} * middle <= square)
      low = middle;
    else
      high = middle - 1;
  }
  return square - U128{low} * low > low ? low + 1 : low;
}

// Row i, column j: 2^-(j / 256^(i+1)). The power of a 64-bit fraction is a product of eight
// entries, one a byte. Errors: half a unit for a root or product, about 5 for an entry, below 64
// units or 2^-57 for the product of eight; relative to a result of at least 1/2 that is 2^-56.
using Row = std::array<std::uint64_t, 256>;
constexpr std::array<Row, 8> make_table() {
  std::array<Row, 8> table{};
  std::uint64_t power = kOne >> 1;  // 2^-1
  for (Row& row : table) {
    // Most significant first: 2^-(1/2), 2^-(1/4), ... in this row's scale.
    std::array<std::uint64_t, 8> bits{};
    for (std::uint64_t& bit : bits) bit = power = root(power);
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = kOne;
      for (std::size_t b = 0; b < bits.size(); ++b)
        if ((j >> (7 - b) & 1) != 0) row[j] = product(row[j], bits[b]);
    }
  }
  return table;
}
constexpr std::array<Row, 8> kTable = make_table();

// 2^-(fraction / 2^64).
std::uint64_t fractional_power(std::uint64_t fraction) {
  std::uint64_t result = kOne;
  for (std::size_t i = 0; i < kTable.size() && fraction != 0; ++i, fraction <<= 8)
    result = product(result, kTable[i][fraction >> 56]);
  return result;
}

// factor * 2^63, rounded down.
std::uint64_t fixed(const HalfPower& factor) {
  return factor.shift < 64 ? factor.mantissa >> factor.shift : 0;
}

}  // namespace

HalfPower decay_factor(Duration elapsed, Seconds half_life) {
  if (elapsed <= Duration::zero() || half_life <= Seconds::zero()) return {};
  const auto time = static_cast<std::uint64_t>(elapsed.count());
  const auto half = static_cast<std::uint64_t>(Duration(half_life).count());
  const auto fraction = static_cast<std::uint64_t>((U128{time % half} << 64) / half);
  return {fractional_power(fraction), time / half};
}

double half_to_the(double x) {
  if (std::isnan(x)) return 0;
  if (x <= 0) return 1;
  if (x >= 1100) return 0;  // smaller than every double
  const double whole = std::floor(x);
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(x - whole, 64));
  return std::ldexp(static_cast<double>(fractional_power(fraction)), -63 - static_cast<int>(whole));
}

double to_double(Amount amount) {
  return std::ldexp(static_cast<double>(amount.units), -32);
}

Amount decayed(Amount amount, const HalfPower& factor) {
  if (factor.shift == 0 && factor.mantissa == kOne) return amount;
  const U128 scaled = scaled_product(amount.units, factor.mantissa, 63);
  return {factor.shift < 128 ? scaled >> factor.shift : 0};
}

Amount accrued(std::uint64_t rate, Time from, Time to, Time at, Seconds half_life) {
  if (to <= from) return {};
  const auto ran = static_cast<std::uint64_t>((to - from).count());
  constexpr std::uint64_t kMicros = 1'000'000;
  if (half_life <= Seconds::zero())
    return {scaled_product(U128{rate} * ran, U128{1} << 64, 32) / kMicros};
  const std::uint64_t less = fixed(decay_factor(at - from, half_life));
  const std::uint64_t more = fixed(decay_factor(at - to, half_life));
  const auto half = static_cast<std::uint64_t>(half_life.count());
  // Seconds in units of 2^-63: at most 2^95 for half-lives of a century.
  const U128 seconds = scaled_product(U128{half} * (more - std::min(more, less)), kOneOverLn2, 63);
  return {scaled_product(seconds, rate, 31)};
}

Amount DecayingUsage::at(Time time, Seconds half_life) const {
  return decayed(amount_, decay_factor(time - at_, half_life));
}

void DecayingUsage::add(Amount amount, Time time, Seconds half_life) {
  const Time now = std::max(time, at_);
  const Amount late = decayed(amount, decay_factor(now - time, half_life));
  amount_ = this->at(now, half_life) + late;
  at_ = now;
}

}  // namespace ares::core::fairness
