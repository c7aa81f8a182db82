// Options of all listings in columns: -o, -O, -S, -h, -i, --json, --yaml, --color and --helpformat, and their manual section on
// formats. Owned by a command's main thread.
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
#include "cli/output/colour.h"
#include "cli/output/document.h"
#include "cli/output/table.h"

namespace ares::cli {

struct ListingChoice {
  std::string format;       // -o; "" = the command's default.
  std::string name_format;  // -O; "" = the command's default.
  std::string sort;         // -S; "" = the default order.
  bool no_header = false;
  Document document;
  ColourWhen colour = ColourWhen::automatic;
  bool list_columns = false;
  std::int64_t iterate = 0;  // seconds; 0 = once

  bool has_own_format() const { return !format.empty() || !name_format.empty(); }
};

// `precedence_note` documents which of several options about columns takes effect, `usual_order`
// the order of lines without -S.
void add_listing_options(OptionTable& table, ListingChoice& choice,
                         const std::string& precedence_note, const std::string& usual_order);

// An option that selects predefined columns. It overrides earlier -o and -O.
std::function<Status(const std::string&)> choose_columns(ListingChoice& choice,
                                                         std::function<void()> choose);

// The chosen columns, or those of `usual`, a format of letters.
Result<std::vector<FormatItem>> format_items_of(const ListingChoice& choice,
                                                std::string_view usual);

// The manual section FORMAT. `usual` completes the sentence "The default is": the command's own
// formats, in quotes.
std::pair<std::string, std::vector<std::string>> format_section(
    const std::string& usual, std::vector<std::string> columns,
    std::span<const Unsupported> unsupported);

}  // namespace ares::cli
