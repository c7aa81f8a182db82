// The options that every listing in columns has: -o, -O, -S, -h, -i and --json, and what its manual says of formats.
// Owned by a command's main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"
#include "cli/output/table.h"

namespace ares::cli {

struct ListingChoice {
  std::string format;       // -o; "" = the command's own
  std::string name_format;  // -O; likewise
  std::string sort;         // -S; "" = the usual order
  bool no_header = false;
  bool json = false;
  std::int64_t iterate = 0;  // seconds; 0 = once

  bool has_own_format() const { return !format.empty() || !name_format.empty(); }
};

// `precedence_note` says which of several options about columns counts, `usual_order` how lines are sorted without -S.
void add_listing_options(OptionTable& table, ListingChoice& choice,
                         const std::string& precedence_note, const std::string& usual_order);

// An option by which the command chooses columns itself: -o and -O that stood before do not count.
std::function<Status(const std::string&)> choose_columns(ListingChoice& choice,
                                                         std::function<void()> choose);

// The columns chosen, or else `usual`, a format by letters.
Result<std::vector<FormatItem>> format_items_of(const ListingChoice& choice,
                                                std::string_view usual);

// The section FORMAT. `usual` ends "The default is": the command's own formats, in quotes.
std::pair<std::string, std::vector<std::string>> format_section(
    const std::string& usual, std::vector<std::string> columns,
    std::span<const Unsupported> unsupported);

}  // namespace ares::cli
