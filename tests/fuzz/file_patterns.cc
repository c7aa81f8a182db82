// Names of a job's output files: what the letters stand for adds no folder, and no more than their values are long.
#include "base/file_pattern.h"

#include <algorithm>

#include "fuzz/target.h"

namespace ares::fuzz {

const Allowance kAllowance{64 << 10, 1024};

namespace {

PatternValues of_an_array_task() {
  PatternValues values;
  values.job = 18'446'744'073'709'551'614u;
  values.array = 4711;
  values.task = 12;
  values.node = "node-1.example.org";
  values.node_rank = 3;
  values.restarts = 1;
  values.user = "dom/user";
  values.name = "../../a/%j\\ name";
  return values;
}

void try_values(std::string_view pattern, const PatternValues& values) {
  constexpr std::size_t kLongest = 20;  // of the values, and of padding
  const std::string name = expand_pattern(pattern, values);
  const bool raw = pattern.find('\\') != std::string_view::npos;
  require(name.size() <= pattern.size() * kLongest, "a name is bounded by its pattern");
  require(
      std::count(name.begin(), name.end(), '/') == std::count(pattern.begin(), pattern.end(), '/'),
      "a value adds no folder");
  if (raw || pattern.find('%') == std::string_view::npos) {
    std::string plain(pattern);
    std::erase(plain, '\\');
    require(name == plain, "without letters the name is the pattern");
  }
}

}  // namespace

void try_input(std::string_view input) {
  try_values(input, of_an_array_task());
  // What is not known is left for those who know it.
  try_values(input, PatternValues{});
  PatternValues job;
  job.job = job.array = 12;
  job.task = 0;
  try_values(input, job);
}

}  // namespace ares::fuzz
