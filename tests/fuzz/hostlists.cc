// Lists of hosts and of numbers: printed and read again they are the same.
#include "base/bitset.h"
#include "base/hostlist.h"
#include "base/interval_set.h"
#include "fuzz/target.h"

namespace ares::fuzz {

// A list of a few bytes may name as many hosts, or separate numbers, as the limits allow.
constexpr std::size_t kMostHosts = 1000;
constexpr std::size_t kMostCpus = 4096;
const Allowance kAllowance{64 << 20, 4096};

namespace {

void try_hosts(std::string_view input) {
  const auto names = expand_hostlist(input, kMostHosts);
  if (!names) return require_refusal(names.error());
  require(names->size() <= kMostHosts, "the limit of hosts is kept");
  for (const std::string& name : *names)
    require(!name.empty() && name.size() <= 255, "a host name has 1 to 255 characters");
  const std::string text = compress_hostlist(*names);
  const auto again = expand_hostlist(text, kMostHosts);
  require(again.has_value(), "what was printed is a host list: " + text);
  require(*again == *names, "a host list survives printing: " + text);
}

void try_numbers(std::string_view input) {
  const auto set = parse_interval_set(input);
  if (!set) return require_refusal(set.error());
  require(!set->empty(), "a list of numbers is not empty");
  const std::string text = format_interval_set(*set);
  const auto again = parse_interval_set(text);
  require(again.has_value(), "what was printed is a list of numbers");
  require(*again == *set, "a list of numbers survives printing");
}

void try_cpus(std::string_view input) {
  const auto set = parse_bitset(input, kMostCpus);
  if (!set) return require_refusal(set.error());
  const auto again = parse_bitset(format_bitset(*set), kMostCpus);
  require(again && *again == *set, "a list of CPUs survives printing");
}

}  // namespace

void try_input(std::string_view input) {
  try_hosts(input);
  try_numbers(input);
  try_cpus(input);
}

}  // namespace ares::fuzz
