#include "core/topology/matrix/row.h"

#include <algorithm>
#include <array>

namespace ares::core::topology {
namespace {

constexpr std::uint32_t kMaxCpu = 8191;  // Linux has at most 8192
constexpr std::size_t kMaxListLength = 1024;

// Codes that `nvidia-smi topo -p2p` prints instead of links.
constexpr std::array<std::string_view, 6> kPeerCodes = {"OK", "CNS", "GNS", "TNS", "NS", "U"};

class RowParser {
 public:
  RowParser(const Line& line, const Header& header, std::size_t device)
      : line_(line), header_(header), words_(words_of(line.text)) {
    row_.device = device;
    row_.line = line.number;
  }

  Result<Row> parse() {
    if (Status done = read_links(); !done) return fail(done.error());
    if (Status done = read_affinities(); !done) return fail(done.error());
    return std::move(row_);
  }

 private:
  const std::string& name(std::size_t device) const { return header_.devices[device].name; }
  tl::unexpected<Error> bad(std::size_t column, const std::string& why) const {
    return fail_at({line_.number, column}, why);
  }

  // A word holds one cell, or several if wide cells have no space between them.
  Status read_links() {
    std::size_t word = 1;
    std::string_view rest;
    for (std::size_t device = 0; device < header_.devices.size(); ++device) {
      if (rest.empty()) {
        if (word == words_.size()) return too_short(device);
        rest = words_[word++].text;
      }
      const std::size_t column = column_of(rest);
      const std::optional<Cell> cell = take_cell(rest);
      if (!cell) return no_link(column, rest, device);
      if (!cell->link != (device == row_.device)) return misplaced(column, device);
      row_.links.push_back(cell->link);
      row_.columns.push_back(static_cast<std::uint32_t>(column));
    }
    if (!rest.empty()) return too_long(column_of(rest), rest);
    if (word < words_.size()) {
      std::string_view next = words_[word].text;
      if (take_cell(next)) return too_long(words_[word].column, words_[word].text);
    }
    behind_ = words_[word - 1].column - 1 + words_[word - 1].text.size();
    return {};
  }

  std::size_t column_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - line_.text.data()) + 1;
  }

  tl::unexpected<Error> too_short(std::size_t device) const {
    return bad(line_.text.size() + 1,
               "the line of " + name(row_.device) + " ends before its column " + name(device) +
                   ": the text was cut; give the whole output of nvidia-smi topo -m");
  }
  tl::unexpected<Error> too_long(std::size_t column, std::string_view found) const {
    return bad(column, quote(found) +
                           " is one link more than the header has devices; give the "
                           "output as nvidia-smi topo -m prints it");
  }
  tl::unexpected<Error> no_link(std::size_t column, std::string_view found,
                                std::size_t device) const {
    const std::string_view code = found.substr(0, found.find_first_of(" \t"));
    const bool peers = std::find(kPeerCodes.begin(), kPeerCodes.end(), code) != kPeerCodes.end();
    if (peers)
      return bad(column, quote(code) +
                             " tells whether GPUs can copy to each other, not how they "
                             "are linked; give the output of nvidia-smi topo -m");
    return bad(column, quote(code) + " is no link from " + name(row_.device) + " to " +
                           name(device) +
                           "; links are NV1 to NV64, PIX, PXB, PHB, NODE, SYS and SOC");
  }
  tl::unexpected<Error> misplaced(std::size_t column, std::size_t device) const {
    const std::string me = name(row_.device);
    if (device == row_.device)
      return bad(column, "expected X where " + me +
                             " meets itself; the line has lost or gained a cell before it");
    return bad(column, "X stands in the line of " + me + " under " + name(device) +
                           "; it belongs under " + me + ": the line has lost or gained a cell");
  }

  Status read_affinities() {
    if (!header_.devices[row_.device].gpu) return {};
    for (const auto& [kind, cell] : affinity_cells()) {
      if (cell.text.empty() || cell.text == "N/A") continue;
      IntervalSet& set = kind == Affinity::cpu    ? row_.cpus
                         : kind == Affinity::numa ? row_.numa
                                                  : row_.own_numa;
      if (cell.text.size() > kMaxListLength)
        return bad(cell.column, "a list longer than " + std::to_string(kMaxListLength) + " bytes");
      const Result<IntervalSet> list = parse_interval_set(cell.text, kMaxCpu);
      if (!list)
        return bad(cell.column, quote(cell.text) +
                                    " is not a list such as 0-15,32-47 of the processors or NUMA "
                                    "nodes near " +
                                    name(row_.device) + "; N/A or nothing where it is unknown");
      set = *list;
      if (kind == Affinity::cpu) row_.cpus_column = cell.column;
    }
    return {};
  }

  using AffinityCell = std::pair<Affinity, Word>;

  std::vector<AffinityCell> affinity_cells() const {
    const std::string_view rest = std::string_view(line_.text).substr(behind_);
    const std::size_t tab = rest.find('\t');
    const bool spaced = rest.substr(0, tab).find_first_not_of(' ') != std::string_view::npos;
    return tab == std::string_view::npos || spaced
               ? by_words(rest)
               : by_tabs(cells_of(rest.substr(tab + 1), behind_ + tab + 2));
  }

  // Tabs delimit empty cells. Drivers print an extra one before the last affinity; it is skipped.
  std::vector<AffinityCell> by_tabs(const std::vector<Word>& cells) const {
    std::vector<AffinityCell> found;
    std::size_t cell = 0;
    for (std::size_t i = 0; i < header_.affinities.size() && cell < cells.size(); ++i, ++cell) {
      const bool last = i > 0 && i + 1 == header_.affinities.size();
      while (last && cell + 1 < cells.size() && cells[cell].text.empty()) ++cell;
      found.emplace_back(header_.affinities[i].kind, cells[cell]);
    }
    return found;
  }

  // Without tabs an empty cell is detected by text below the next header.
  std::vector<AffinityCell> by_words(std::string_view rest) const {
    const std::vector<Word> cells = words_of(rest, behind_ + 1);
    const auto& columns = header_.affinities;
    std::vector<AffinityCell> found;
    std::size_t next = 0;
    for (std::size_t i = 0; i < cells.size() && next < columns.size(); ++i, ++next) {
      const std::size_t to_place = cells.size() - i;
      while (columns.size() - next > to_place && cells[i].column >= columns[next + 1].column)
        ++next;
      found.emplace_back(columns[next].kind, cells[i]);
    }
    return found;
  }

  const Line& line_;
  const Header& header_;
  std::vector<Word> words_;
  std::size_t behind_ = 0;  // offset at which the affinities begin
  Row row_;
};

}  // namespace

Result<Row> parse_row(const Line& line, const Header& header, std::size_t device) {
  return RowParser(line, header, device).parse();
}

}  // namespace ares::core::topology
