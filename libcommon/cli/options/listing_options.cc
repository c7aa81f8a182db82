#include "cli/options/listing_options.h"

#include "cli/output/text.h"

namespace ares::cli {
namespace {

constexpr std::int64_t kMostSeconds = 86'400 * 365;

Option format_option(ListingChoice& c, const std::string& precedence_note) {
  return {'o', "format", "FORMAT", "Columns to print, by letters; see FORMAT." + precedence_note,
          [&c](const std::string& value) -> Status {
            c.format = value;
            c.name_format.clear();
            return {};
          }};
}

Option name_format_option(ListingChoice& c, const std::string& prefix) {
  return {.letter = 'O',
          .name = "Format",
          .argument = "NAMES",
          .help =
              "Columns to print, by names: NAME[:[.]WIDTH[TEXT]], separated by commas; see "
              "FORMAT.",
          .apply = [&c](const std::string& value) -> Status {
            c.name_format = value;
            c.format.clear();
            return {};
          },
          .variable = prefix + "FORMAT2"};
}

Option iterate_option(ListingChoice& c) {
  return {'i', "iterate", "SECONDS", "Print again and again, every so many seconds.",
          [&c](const std::string& value) -> Status {
            const auto seconds = parse_integer(value, 1, kMostSeconds);
            if (!seconds) return fail(seconds.error());
            c.iterate = *seconds;
            return {};
          }};
}

}  // namespace

void add_listing_options(OptionTable& table, ListingChoice& c, const std::string& precedence_note,
                         const std::string& usual_order) {
  const std::string order =
      "Order of the lines: letters or names of columns, - before one for descending. Default: " +
      usual_order + ".";
  table.options.push_back(format_option(c, precedence_note));
  table.options.push_back(name_format_option(c, table.environment_prefix));
  table.options.push_back({'S', "sort", "KEYS", order, set_text(c.sort)});
  table.options.push_back({'h', "noheader", "", "No header.", set_flag(c.no_header)});
  table.options.push_back(iterate_option(c));
  add_document_options(table.options, c.document, "Everything that is known, as JSON.");
  table.options.push_back(colour_option(c.colour));
  Option list{0, "helpformat", "", "List the columns, by letters and names, and stop.",
              set_flag(c.list_columns)};
  list.aliases = {"helpFormat"};
  list.environment = false;
  table.options.push_back(std::move(list));
}

std::function<Status(const std::string&)> choose_columns(ListingChoice& c,
                                                         std::function<void()> choose) {
  return [&c, choose = std::move(choose)](const std::string&) -> Status {
    c.format.clear();
    c.name_format.clear();
    choose();
    return {};
  };
}

Result<std::vector<FormatItem>> format_items_of(const ListingChoice& c, std::string_view usual) {
  if (!c.name_format.empty()) return parse_name_format(c.name_format);
  return parse_format(c.format.empty() ? usual : c.format);
}

std::pair<std::string, std::vector<std::string>> format_section(
    const std::string& usual, std::vector<std::string> columns,
    std::span<const Unsupported> unsupported) {
  std::vector<std::string> texts = {
      "For -o a format is text with fields %[.][#][WIDTH]LETTER; a dot aligns to the right, # lets "
      "the column grow to its contents, and %% is a percent sign. %all alone is every column, with "
      "| between them. The default is " +
          usual + ".",
      "For -O it is NAME[:[.]WIDTH[TEXT]], separated by commas; TEXT is printed after the column. "
      "Without a width a column is as wide as its contents, and at least 20. Names may be "
      "written in any case, and all is every column. The letters and names are:"};
  for (std::string& line : columns) texts.push_back(std::move(line));
  texts.push_back("Not supported, and refused by name: " + describe_unsupported(unsupported) + ".");
  return {"Format", std::move(texts)};
}

}  // namespace ares::cli
