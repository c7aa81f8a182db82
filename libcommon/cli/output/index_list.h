// Lists of array indices as listings show them: a list of many ranges would make the lines of all
// jobs too long to read. Pure functions except for the environment; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::cli {

// The most characters of a list: ARES_BITSTR_LEN, or Slurm's SLURM_BITSTR_LEN, or 64; 0 = all.
// invalid_argument: ARES_BITSTR_LEN is not a number.
Result<std::size_t> longest_index_list();

// "1,3,5,..." within `most` characters; 0 = all. Only whole ranges are left.
std::string shortened_indices(std::string_view list, std::size_t most);

// "12_[1,3,...%2]" within `width` characters, or as near as possible: only indices are left out.
std::string shortened_id(std::string_view id, std::size_t width);

// A paragraph about these variables for manual pages.
std::string describe_index_lists();

}  // namespace ares::cli
