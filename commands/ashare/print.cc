#include "ashare/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::ashare {
namespace {

using Line = const api::ShareLine&;

struct Field {
  std::string name;
  bool left = false;
  std::function<std::string(Line, bool aligned)> text;
};

std::string decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f", value);
  return text;
}

std::string whole(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f", std::floor(value));
  return text;
}

const std::vector<Field>& fields() {
  static const std::vector<Field> all{
      {"Account", true,
       [](Line line, bool aligned) {
         return (aligned ? std::string(line.depth(), ' ') : std::string()) + line.account();
       }},
      {"User", true, [](Line line, bool) { return line.user(); }},
      {"RawShares", false,
       [](Line line, bool) {
         return line.has_shares() ? std::to_string(line.shares()) : std::string("parent");
       }},
      {"NormShares", false, [](Line line, bool) { return decimal(line.norm_shares()); }},
      {"RawUsage", false, [](Line line, bool) { return whole(line.usage()); }},
      {"NormUsage", false, [](Line line, bool) { return decimal(line.norm_usage()); }},
      {"EffectvUsage", false, [](Line line, bool) { return decimal(line.effective_usage()); }},
      {"FairShare", false,
       [](Line line, bool) { return line.has_factor() ? decimal(line.factor()) : std::string(); }},
      {"LevelFS", false,
       [](Line line, bool) {
         if (line.endless()) return std::string("inf");
         return line.has_level() ? decimal(line.level()) : std::string();
       }},
  };
  return all;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

Result<std::vector<const Field*>> chosen(const Query& query) {
  std::vector<std::string> names = query.format;
  if (names.empty()) {
    names = {"Account", "User", "RawShares", "NormShares", "RawUsage", "EffectvUsage", "FairShare"};
    if (query.wide)
      names = {"Account",   "User",         "RawShares", "NormShares", "RawUsage",
               "NormUsage", "EffectvUsage", "FairShare", "LevelFS"};
  }
  std::vector<const Field*> out;
  for (const std::string& name : names) {
    const auto found = std::find_if(fields().begin(), fields().end(), [&](const Field& field) {
      return lower(field.name) == lower(name);
    });
    if (found == fields().end())
      return fail(ErrorCode::invalid_argument,
                  "--format: " + quote(name) + " is no field; there are " + field_names());
    out.push_back(&*found);
  }
  return out;
}

// Rows of cells; the first row has the headings.
using Cells = std::vector<std::vector<std::string>>;

std::string aligned(const Cells& rows, const std::vector<const Field*>& columns, bool header) {
  std::vector<std::size_t> widths(columns.size());
  for (std::size_t r = header ? 0 : 1; r < rows.size(); ++r)
    for (std::size_t i = 0; i < columns.size(); ++i)
      widths[i] = std::max(widths[i], rows[r][i].size());
  std::string text;
  for (std::size_t r = header ? 0 : 1; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string pad(widths[i] - rows[r][i].size(), ' ');
      line += (i == 0 ? "" : " ") + (columns[i]->left ? rows[r][i] + pad : pad + rows[r][i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string separated(const Cells& rows, bool header, bool trailing) {
  std::string text;
  for (std::size_t r = header ? 0 : 1; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < rows[r].size(); ++i) text += (i == 0 ? "" : "|") + rows[r][i];
    text += trailing ? "|\n" : "\n";
  }
  return text;
}

}  // namespace

std::string field_names() {
  std::string text;
  for (const Field& field : fields()) text += (text.empty() ? "" : ", ") + field.name;
  return text;
}

Result<std::string> print(const Query& query, const api::Shares& shares) {
  const auto columns = chosen(query);
  if (!columns) return fail(columns.error());
  const bool plain = query.parsable || query.trailing;
  Cells rows(1);
  for (const Field* field : *columns) rows.front().push_back(field->name);
  for (const api::ShareLine& line : shares.lines()) {
    if (query.users_only && line.user().empty()) continue;
    std::vector<std::string>& row = rows.emplace_back();
    for (const Field* field : *columns) row.push_back(field->text(line, !plain));
  }
  if (plain) return separated(rows, !query.no_header, query.trailing);
  return aligned(rows, *columns, !query.no_header);
}

}  // namespace ares::ashare
