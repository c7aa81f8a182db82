#include "core/topology/matrix/matrix.h"

#include <algorithm>

#include "core/topology/matrix/header.h"
#include "core/topology/matrix/row.h"

namespace ares::core::topology {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxLine = std::size_t{16} << 10;

// A GPU's CPUs may all have higher numbers than those of the other GPUs, but seldom such ones.
constexpr std::uint32_t kManyCpus = 1023;

constexpr std::string_view kGiveOutput = "give the output of nvidia-smi topo -m";

// CPUs of the first set that are not in the second one.
std::uint64_t count_without(IntervalSet set, const IntervalSet& other) {
  for (const IntervalSet::Interval& interval : other.intervals())
    set.erase(interval.first, interval.last);
  return set.count();
}

// Whether both have CPUs that the other lacks, and others that are the same.
bool overlap_partly(const IntervalSet& a, const IntervalSet& b) {
  const std::uint64_t only_a = count_without(a, b);
  return only_a > 0 && only_a < a.count() && count_without(b, a) > 0;
}

class MatrixParser {
 public:
  explicit MatrixParser(std::string_view text) : lines_(text) {}

  Result<Matrix> parse() {
    if (Status done = find_header(); !done) return fail(done.error());
    rows_.resize(header_.devices.size());
    legend_.resize(header_.devices.size());
    if (Status done = read_rows(); !done) return fail(done.error());
    if (Status done = check_missing(); !done) return fail(done.error());
    if (Status done = check_symmetry(); !done) return fail(done.error());
    if (Status done = check_cpus(); !done) return fail(done.error());
    if (Status done = check_overlaps(); !done) return fail(done.error());
    return matrix();
  }

 private:
  // The next line; none at the end of the text.
  Result<std::optional<Line>> next_line() {
    std::optional<Line> line = lines_.next();
    if (line && line->text.size() > kMaxLine)
      return fail_at({line->number, kMaxLine + 1},
                     "a line of more than 16 KiB; " + std::string(kGiveOutput));
    return line;
  }

  Status find_header() {
    std::optional<TextPosition> lone_row;
    for (;;) {
      Result<std::optional<Line>> line = next_line();
      if (!line) return fail(line.error());
      if (!*line) break;
      if ((*line)->text.find("ROCm System Management") != std::string::npos)
        return fail_at({(*line)->number, 1},
                       "this is rocm-smi's output; only that of nvidia-smi topo -m is understood");
      const std::vector<Word> words = words_of((*line)->text);
      if (is_header(words)) {
        Result<Header> header = parse_header(**line);
        if (!header) return fail(header.error());
        header_ = std::move(*header);
        last_line_ = (*line)->number;
        return {};
      }
      if (!lone_row && words.size() > 1 && gpu_number(words[0].text))
        lone_row = TextPosition{(*line)->number, words[0].column};
    }
    if (lone_row)
      return fail_at(*lone_row, "no line with the names of the columns stands before this one; " +
                                    std::string(kGiveOutput) + " whole");
    return fail_at({1, 1}, "no line begins with GPU0; " + std::string(kGiveOutput));
  }

  // Rows are adjacent. Any text may follow them, except a second matrix.
  Status read_rows() {
    bool inside = true;
    for (;;) {
      const Result<std::optional<Line>> line = next_line();
      if (!line) return fail(line.error());
      if (!*line) return {};
      const std::vector<Word> words = words_of((*line)->text);
      if (words.empty()) continue;
      if (is_header(words))
        return fail_at({(*line)->number, words[0].column},
                       "a second matrix begins here; give one machine at a time");
      const std::optional<std::size_t> device = header_.find(words[0].text);
      inside = inside && device;
      Status done = inside ? add_row(**line, words[0], *device) : read_legend(**line, words);
      if (!done) return done;
    }
  }

  Status add_row(const Line& line, const Word& label, std::size_t device) {
    last_line_ = line.number;
    if (rows_[device])
      return fail_at({line.number, label.column},
                     "a second line of " + header_.devices[device].name + "; the first is line " +
                         std::to_string(rows_[device]->line));
    Result<Row> row = parse_row(line, header_, device);
    if (!row) return fail(row.error());
    rows_[device] = std::move(*row);
    return {};
  }

  // "NIC0: mlx5_0". Other lines after the matrix are ignored.
  Status read_legend(const Line& line, const std::vector<Word>& words) {
    std::string_view name = words[0].text;
    if (gpu_number(name) && words.size() > 1) {
      std::string_view cell = words[1].text;
      if (take_cell(cell))
        return fail_at({line.number, words[0].column},
                       quote(name) + " has no column of its own; give the whole output");
    }
    if (words.size() != 2 || !name.ends_with(':')) return {};
    name.remove_suffix(1);
    if (const auto device = header_.find(name)) legend_[*device] = words[1].text;
    return {};
  }

  Status check_missing() {
    std::string gpus;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i]) continue;
      const HeaderDevice& device = header_.devices[i];
      std::string& list = device.gpu ? gpus : missing_nics_;
      list += (list.empty() ? "" : ", ") + device.name;
    }
    if (gpus.empty()) return {};
    return fail_at({last_line_ + 1, 1},
                   "expected the lines of " + gpus +
                       ": the text was cut; give the whole output of nvidia-smi topo -m");
  }

  Status check_symmetry() const {
    for (std::size_t a = 0; a < rows_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        if (!rows_[a] || !rows_[b] || rows_[a]->links[b] == rows_[b]->links[a]) continue;
        const Row& later = rows_[a]->line > rows_[b]->line ? *rows_[a] : *rows_[b];
        const Row& earlier = &later == &*rows_[a] ? *rows_[b] : *rows_[a];
        const auto link = [](const Row& from, const Row& to) {
          return format_link(*from.links[to.device]);
        };
        const std::string& me = header_.devices[later.device].name;
        const std::string& other = header_.devices[earlier.device].name;
        return fail_at({later.line, later.columns[earlier.device]},
                       me + " says " + link(later, earlier) + " of " + other + ", but line " +
                           std::to_string(earlier.line) + " says " + link(earlier, later) +
                           ": links are the same both ways; give the output unchanged");
      }
    return {};
  }

  // A row that has lost the tab behind its CPUs reads "0-31" and node "1" as "0-311".
  Status check_cpus() const {
    const bool has_nodes = std::any_of(rows_.begin(), rows_.end(),
                                       [](const auto& row) { return row && !row->numa.empty(); });
    for (const std::optional<Row>& row : rows_) {
      if (!row || row->cpus.empty()) continue;
      // The highest CPU of the rows that do not end alike, because rows may be broken alike.
      std::uint32_t others = 0;
      for (const std::optional<Row>& other : rows_)
        if (other && !other->cpus.empty() && other->cpus.back() != row->cpus.back())
          others = std::max(others, other->cpus.back());
      const bool lacks_node = has_nodes && row->numa.empty();
      if (others == 0 || row->cpus.back() / 4 <= others ||
          (row->cpus.back() <= kManyCpus && !lacks_node))
        continue;
      const std::string& me = header_.devices[row->device].name;
      return fail_at({row->line, row->cpus_column},
                     me + " is said to be near CPU " + std::to_string(row->cpus.back()) +
                         ", but no other line has one above " + std::to_string(others) +
                         ": two cells have run together; give the output unchanged");
    }
    return {};
  }

  // If all rows have lost that tab, none tells what CPUs there are. But GPUs are near the same CPUs,
  // near different ones, or one near more than the other. Lists with a wrong end overlap otherwise.
  Status check_overlaps() const {
    const bool names_nodes =
        std::any_of(header_.affinities.begin(), header_.affinities.end(),
                    [](const auto& column) { return column.kind == Affinity::numa; });
    if (!names_nodes) return {};
    const Row* before = nullptr;
    for (const std::optional<Row>& row : rows_) {
      if (!row || row->cpus.empty() || !row->numa.empty()) continue;
      if (before && overlap_partly(before->cpus, row->cpus))
        return fail_at({row->line, row->cpus_column},
                       header_.devices[row->device].name + " and " +
                           header_.devices[before->device].name +
                           " are said to have some near CPUs in common and others not: two cells "
                           "have run together; give the output unchanged");
      before = &*row;
    }
    return {};
  }

  // Header positions in the order of Matrix: GPUs first.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> positions(rows_.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
    std::stable_partition(positions.begin(), positions.end(),
                          [&](std::size_t i) { return header_.devices[i].gpu.has_value(); });
    return positions;
  }

  Matrix matrix() const {
    Matrix matrix;
    const std::vector<std::size_t> positions = order();
    for (const std::size_t i : positions) {
      const HeaderDevice& device = header_.devices[i];
      if (device.gpu)
        matrix.gpus.push_back({*device.gpu, rows_[i]->cpus, rows_[i]->numa, rows_[i]->own_numa});
      else
        matrix.nics.push_back({device.name, legend_[i]});
      for (const std::size_t j : positions) matrix.links.push_back(link(i, j));
    }
    if (!missing_nics_.empty())
      matrix.notes.push_back("no lines of " + missing_nics_ +
                             ": their links to GPUs are taken from the GPUs' lines");
    return matrix;
  }

  std::optional<Link> link(std::size_t a, std::size_t b) const {
    if (rows_[a]) return rows_[a]->links[b];
    return rows_[b] ? rows_[b]->links[a] : std::nullopt;
  }

  Lines lines_;
  Header header_;
  std::size_t last_line_ = 0;             // last line of the matrix
  std::vector<std::optional<Row>> rows_;  // by device of the header
  std::vector<std::string> legend_;       // by device of the header
  std::string missing_nics_;
};

}  // namespace

Result<Matrix> parse_matrix(std::string_view text) {
  if (text.size() > kMaxBytes)
    return fail(ErrorCode::invalid_argument,
                "line 1, column 1: more than 1 MiB of text; " + std::string(kGiveOutput));
  return MatrixParser(text).parse();
}

}  // namespace ares::core::topology
