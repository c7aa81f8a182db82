#include "cli/output/table.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "base/printable.h"
#include "cli/output/colour.h"
#include "cli/output/index_list.h"
#include "cli/output/text.h"
#include "cli/output/width.h"
#include "config/suggest.h"

namespace ares::cli {
namespace {

constexpr unsigned kLeastNamed = 20;  // Default width of a column of -O.
constexpr unsigned kWidest = 10'000;  // Larger widths are refused as mistakes.

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool may_need_replacement(char c) {
  return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f;
}

// Reads the digits at `at`.
unsigned take_width(std::string_view text, std::size_t& at) {
  unsigned width = 0;
  for (; at < text.size() && is_digit(text[at]); ++at)
    if (width < kWidest) width = width * 10 + static_cast<unsigned>(text[at] - '0');
  return width;
}

// Returns `; did you mean "NAME"?`, ignoring case.
std::string suggest(const std::string& word, std::span<const std::string> names) {
  std::vector<std::string> lowered;
  for (const std::string& name : names) lowered.push_back(lower(name));
  std::string text = config::suggestion(lower(word), lowered);
  for (std::size_t i = 0; i < names.size() && !text.empty(); ++i)
    if (const std::size_t at = text.find("\"" + lowered[i] + "\""); at != std::string::npos)
      return text.replace(at + 1, lowered[i].size(), names[i]);
  return text;
}

struct Style {
  std::size_t width = 0;
  bool right = false;
  bool never_cut = false;
  bool marked = false;  // A truncated cell ends in '+'.
  bool last = false;    // The last cell of a line: no padding.
  bool coloured = false;
};

// `cell` is the whole text of a state, of which `text` is shown.
void put_text(std::string_view text, std::string_view cell, const Style& style, std::string& out) {
  if (style.coloured)
    put_coloured(text, cell, out);
  else
    out += text;
}

void put(std::string_view text, const Style& style, std::string& out) {
  const std::string_view cell = text;
  if (style.width == 0) return put_text(text, cell, style, out);
  std::string shortened;
  if (style.never_cut && style.marked) text = shortened = shortened_id(text, style.width);
  std::size_t shown = display_width(text);
  bool mark = false;
  if (shown > style.width && !style.never_cut) {
    mark = style.marked;
    text = head_of_width(text, style.width - (mark ? 1 : 0));
    shown = display_width(text) + (mark ? 1 : 0);
  }
  const std::size_t pad = shown < style.width ? style.width - shown : 0;
  if (style.right) out.append(pad, ' ');
  put_text(text, cell, style, out);
  if (mark) out += '+';
  if (!style.right && !style.last) out.append(pad, ' ');
}

}  // namespace

Result<std::vector<FormatItem>> parse_format(std::string_view format) {
  if (same_name(format, "%all")) {
    FormatItem all;
    all.name = "all";
    all.literal = "|";
    return std::vector{std::move(all)};
  }
  std::vector<FormatItem> format_items;
  const auto literal = [&](char c) {
    if (format_items.empty()) format_items.emplace_back();
    format_items.back().literal += c;
  };
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      literal(format[i]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      literal('%');
      ++i;
      continue;
    }
    FormatItem format_item;
    std::size_t at = i + 1;
    for (; at < format.size() && (format[at] == '.' || format[at] == '#'); ++at)
      (format[at] == '.' ? format_item.right : format_item.fit) = true;
    format_item.width = take_width(format, at);
    for (; at < format.size() && (format[at] == '.' || format[at] == '#'); ++at)
      (format[at] == '.' ? format_item.right : format_item.fit) = true;
    if (at >= format.size() || !is_letter(format[at]))
      return fail(ErrorCode::invalid_argument, "format " + quote(format) +
                                                   ": expected %[.][WIDTH]LETTER at column " +
                                                   std::to_string(i + 1));
    format_item.letter = format[at];
    format_items.push_back(std::move(format_item));
    i = at;
  }
  return format_items;
}

Result<std::vector<FormatItem>> parse_name_format(std::string_view format) {
  std::vector<FormatItem> format_items;
  for (const std::string& item : split(format, ',')) {
    FormatItem format_item;
    const std::size_t colon = item.find(':');
    format_item.name = std::string(trim(std::string_view(item).substr(0, colon)));
    if (format_item.name.empty())
      return fail(ErrorCode::invalid_argument,
                  "format " + quote(format) + ": expected NAME[:[.]WIDTH[TEXT]]");
    std::string_view shape;
    if (colon != std::string::npos) shape = std::string_view(item).substr(colon + 1);
    std::size_t at = 0;
    if (at < shape.size() && shape[at] == '.') {
      format_item.right = true;
      ++at;
    }
    format_item.width = take_width(shape, at);
    format_item.literal = std::string(shape.substr(at));
    if (format_item.width == 0) {
      format_item.width = kLeastNamed;
      format_item.fit = true;
    }
    format_items.push_back(std::move(format_item));
  }
  if (format_items.empty())
    return fail(ErrorCode::invalid_argument, "an empty format; write NAME[:WIDTH],NAME...");
  return format_items;
}

void Grid::end_cell() {
  const std::size_t begin = ends_.empty() ? 0 : ends_.back();
  const std::string_view cell = std::string_view(text_).substr(begin);
  if (std::any_of(cell.begin(), cell.end(), may_need_replacement))
    text_.replace(begin, std::string::npos, printable(cell));
  ends_.push_back(text_.size());
}

void Grid::clear() {
  text_.clear();
  ends_.clear();
  bare_rows_ = 0;
}

bool Grid::has_fixed_widths() const {
  return std::none_of(format_items_.begin(), format_items_.end(),
                      [](const FormatItem& p) { return p.fit; });
}

std::string_view Grid::cell(std::size_t row, std::size_t column) const {
  const std::size_t at = row * columns_.size() + column;
  const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::string_view(text_).substr(begin, ends_[at] - begin);
}

std::vector<std::size_t> Grid::widths(bool with_header) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < format_items_.size(); ++i) {
    const FormatItem& format_item = format_items_[i];
    if (!format_item.has_column()) continue;
    std::size_t width = format_item.width;
    if (format_item.fit) {
      const std::size_t column = widths.size();
      std::size_t widest = with_header ? display_width(columns_[column].header) : 0;
      for (std::size_t row = 0; row < rows(); ++row)
        widest = std::max(widest, display_width(cell(row, column)));
      const bool touches = format_item.literal.empty() && i + 1 < format_items_.size();
      width = std::max(width, widest + (touches ? 1 : 0));
      if (!kept_widths_.empty()) width = std::max(width, kept_widths_[column]);
    }
    widths.push_back(width);
  }
  return widths;
}

void Grid::clear_and_keep_widths(bool with_header) {
  kept_widths_ = widths(with_header);
  clear();
}

std::size_t Grid::least_width(std::size_t column) const {
  std::size_t least = std::max(kNarrowest, display_width(columns_[column].header));
  if (!columns_[column].never_cut) return least;
  for (std::size_t row = 0; row < rows(); ++row)
    least = std::max(least, display_width(shortened_id(cell(row, column), 1)));
  return least;
}

void shrink(std::vector<std::size_t>& widths, std::span<const Shrinkable> order, std::size_t room) {
  std::size_t total = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  for (const Shrinkable& one : order) {
    if (total <= room) return;
    std::size_t& width = widths[one.column];
    if (width <= one.least) continue;
    const std::size_t given = std::min(total - room, width - one.least);
    width -= given;
    total -= given;
  }
}

void Grid::narrow(std::vector<std::size_t>& widths, unsigned terminal) const {
  std::size_t between = 0;
  for (const FormatItem& format_item : format_items_) between += display_width(format_item.literal);
  const std::size_t room = terminal - std::min<std::size_t>(between, terminal);
  if (std::accumulate(widths.begin(), widths.end(), std::size_t{0}) <= room) return;
  std::vector<Shrinkable> order;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].shrink_order > 0) order.push_back({i, least_width(i)});
  std::stable_sort(order.begin(), order.end(), [&](const Shrinkable& a, const Shrinkable& b) {
    return columns_[a.column].shrink_order < columns_[b.column].shrink_order;
  });
  shrink(widths, order, room);
}

std::string Grid::layout(bool with_header, std::optional<std::span<const std::uint32_t>> order,
                         unsigned terminal) const {
  std::vector<std::size_t> wide = widths(with_header);
  const std::vector<std::size_t> wanted = wide;
  if (terminal > 0) narrow(wide, terminal);

  std::vector<Style> styles;
  for (std::size_t i = 0; i < format_items_.size(); ++i) {
    const FormatItem& format_item = format_items_[i];
    if (!format_item.has_column()) continue;
    const std::size_t column = styles.size();
    styles.push_back({wide[column], format_item.right, columns_[column].never_cut,
                      wide[column] < wanted[column],
                      i + 1 == format_items_.size() && format_item.literal.empty(),
                      coloured_ && columns_[column].is_state});
  }
  std::string out;
  const auto line = [&](auto&& text_of) {
    std::size_t column = 0;
    for (const FormatItem& format_item : format_items_) {
      if (format_item.has_column()) {
        put(text_of(column), styles[column], out);
        ++column;
      }
      out += format_item.literal;
    }
    out += '\n';
  };
  if (with_header)
    line([&](std::size_t column) { return std::string_view(columns_[column].header); });
  const std::size_t count = order ? order->size() : rows();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = order ? (*order)[i] : i;
    line([&](std::size_t column) { return cell(row, column); });
  }
  return out;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

Error unknown_column(const FormatItem& format_item, std::span<const Unsupported> unsupported,
                     std::span<const std::string> names) {
  for (const Unsupported& row : unsupported) {
    if (format_item.letter ? row.letter != format_item.letter
                           : !same_name(row.name, format_item.name))
      continue;
    const std::string what = format_item.letter
                                 ? std::string("%") + format_item.letter +
                                       (row.name.empty() ? "" : " (" + row.name + ")")
                                 : quote(row.name);
    return {ErrorCode::invalid_argument,
            "format: " + what + " is not supported" + (row.why.empty() ? " yet" : ": " + row.why)};
  }
  if (format_item.letter)
    return {ErrorCode::invalid_argument, std::string("format: there is no field %") +
                                             format_item.letter + "; the manual page lists them"};
  return {ErrorCode::invalid_argument,
          "unknown field " + quote(format_item.name) + suggest(format_item.name, names)};
}

std::string describe_unsupported(std::span<const Unsupported> unsupported) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // by the reason
  for (const Unsupported& row : unsupported) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& one) { return one.first == row.why; });
    if (group == groups.end()) group = groups.insert(groups.end(), {row.why, {}});
    group->second.push_back(!row.letter ? row.name
                                        : std::string("%") + row.letter +
                                              (row.name.empty() ? "" : " (" + row.name + ")"));
  }
  std::vector<std::string> texts;
  for (const auto& [why, names] : groups)
    texts.push_back(join(names, ", ") + (why.empty() ? "" : " (" + why + ")"));
  return join(texts, "; ");
}

}  // namespace ares::cli
