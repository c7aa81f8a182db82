#include "aacct/print.h"

#include <algorithm>
#include <utility>

#include "aacct/step_lines.h"
#include "base/interval_set.h"
#include "base/printable.h"
#include "cli/output/index_list.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/output/width.h"

namespace ares::aacct {
namespace {

// The first rows, up to this number, determine the column widths. Later rows are printed as they
// arrive, which bounds memory.
constexpr std::size_t kMeasured = 100'000;

// Calls `take` with each line of the page.
template <class Take>
void each_row(const Query& query, const api::AccountingRows& page, std::size_t longest_list,
              Take&& take) {
  each_shown(query, page, [&](const api::AccountingRow& job) {
    each_line(query, job, [&](const api::AccountingRow& row, const api::AccountingStep* step) {
      take(Row{&row, Time(Duration(page.now())), &page.cluster(), query.units, step, longest_list});
    });
  });
}

class Delimited final : public Printer {
 public:
  Delimited(const Query& query, const std::vector<SelectedField>& chosen, Write write)
      : query_(query), chosen_(chosen), write_(std::move(write)) {
    if (query.no_header) return;
    std::string line;
    for (const SelectedField& field : chosen) add(field.field->name, line);
    end(line);
    write_(line);
  }

  void page(const api::AccountingRows& rows) override {
    std::string lines;
    each_row(query_, rows, 0, [&](const Row& row) {
      for (const SelectedField& field : chosen_) add(text_of(*field.field, row), lines);
      end(lines);
    });
    write_(lines);
  }
  void finish() override {}

 private:
  void add(std::string_view cell, std::string& out) {
    if (!std::exchange(first_, false)) out += query_.delimiter;
    out += cli::delimited_cell(cell, query_.delimiter);
  }
  void end(std::string& out) {
    if (query_.parsable) out += query_.delimiter;
    out += '\n';
    first_ = true;
  }

  const Query& query_;
  const std::vector<SelectedField>& chosen_;
  Write write_;
  bool first_ = true;
};

class Aligned final : public Printer {
 public:
  Aligned(const Query& query, const std::vector<SelectedField>& chosen, unsigned terminal,
          Write write)
      : query_(query),
        chosen_(chosen),
        terminal_(terminal),
        coloured_(cli::colours_on(query.colour)),
        write_(std::move(write)) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const int width = chosen[i].width;
      least_.push_back(static_cast<std::size_t>(width < 0 ? -width : width));
      contents_.push_back(header_width(i));
      if (!chosen[i].fixed) least_.back() = std::max(least_.back(), contents_.back());
    }
    widths_ = least_;
  }

  void page(const api::AccountingRows& rows) override {
    each_row(query_, rows, query_.longest_list, [&](const Row& row) {
      for (std::size_t i = 0; i < chosen_.size(); ++i) {
        const std::size_t begin = cells_.size();
        cells_ += text_of(*chosen_[i].field, row);
        ends_.push_back(cells_.size());
        if (settled_ || chosen_[i].fixed) continue;
        const std::string_view cell = std::string_view(cells_).substr(begin);
        contents_[i] = std::max(contents_[i], cli::display_width(cell));
        widths_[i] = std::max(widths_[i], contents_[i]);
        if (chosen_[i].field->never_cut)
          least_[i] = std::max(least_[i], cli::display_width(cli::shortened_id(cell, 1)));
      }
      if (!settled_ && ends_.size() / chosen_.size() >= kMeasured) settle();
    });
    if (settled_) flush();
  }

  void finish() override {
    if (!settled_) settle();
    flush();
  }

 private:
  std::size_t header_width(std::size_t column) const {
    return query_.no_header ? 0 : chosen_[column].field->name.size();
  }

  void settle() {
    settled_ = true;
    if (terminal_ > 0) narrow();
    std::string lines;
    if (!query_.no_header) {
      line([&](std::size_t i) { return std::string_view(chosen_[i].field->name); }, false, lines);
      for (std::size_t i = 0; i < chosen_.size(); ++i)
        lines.append(i ? 1 : 0, ' ').append(widths_[i], '-');
      lines += '\n';
    }
    write_(lines);
  }

  // Shrinks columns until a line fits the terminal: of ids the lists of indices, then what columns are
  // wider than all they hold, then the widest texts.
  void narrow() {
    std::vector<cli::Shrinkable> ids, blanks, texts;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (chosen_[i].fixed) continue;
      if (chosen_[i].field->never_cut) {
        ids.push_back({i, least_[i]});
        continue;
      }
      blanks.push_back({i, contents_[i]});
      texts.push_back({i, std::max(cli::kNarrowest, header_width(i))});
    }
    std::stable_sort(texts.begin(), texts.end(), [&](const auto& a, const auto& b) {
      return contents_[a.column] > contents_[b.column];
    });
    ids.insert(ids.end(), blanks.begin(), blanks.end());
    ids.insert(ids.end(), texts.begin(), texts.end());
    const std::size_t between = widths_.size() - 1;
    cli::shrink(widths_, ids, terminal_ - std::min<std::size_t>(between, terminal_));
  }

  void flush() {
    std::string lines;
    for (std::size_t row = 0; row < ends_.size(); row += chosen_.size())
      line(
          [&](std::size_t i) {
            const std::size_t begin = row + i == 0 ? 0 : ends_[row + i - 1];
            return std::string_view(cells_).substr(begin, ends_[row + i] - begin);
          },
          coloured_, lines);
    write_(lines);
    cells_.clear();
    ends_.clear();
  }

  template <class Text>
  void line(Text&& text, bool coloured, std::string& out) const {
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (i > 0) out += ' ';
      put(text(i), i, i + 1 == chosen_.size(), coloured, out);
    }
    out += '\n';
  }

  void put(std::string_view cell, std::size_t column, bool last, bool coloured,
           std::string& out) const {
    const SelectedField& field = chosen_[column];
    const std::string_view whole = cell;
    const std::size_t width = widths_[column];
    const bool left = field.width < 0;
    std::string shortened;
    if (field.field->never_cut && !field.fixed && terminal_ > 0)
      cell = shortened = cli::shortened_id(cell, width);
    std::size_t shown = cli::display_width(cell);
    const bool cut = shown > width && !field.field->never_cut && width > 0;
    if (cut) {
      cell = cli::head_of_width(cell, width - 1);
      shown = cli::display_width(cell) + 1;
    }
    const std::size_t pad = shown < width ? width - shown : 0;
    if (!left) out.append(pad, ' ');
    if (coloured && field.field->is_state)
      cli::put_coloured(cell, whole, out);
    else
      out += cell;
    if (cut) out += '+';
    if (left && !last) out.append(pad, ' ');
  }

  const Query& query_;
  const std::vector<SelectedField>& chosen_;
  const unsigned terminal_;
  const bool coloured_;
  Write write_;
  std::vector<std::size_t> least_;     // Of columns that are not cut to fit the terminal.
  std::vector<std::size_t> contents_;  // The widest text of each column.
  std::vector<std::size_t> widths_;
  bool settled_ = false;
  std::string cells_;              // The texts of all cells, concatenated.
  std::vector<std::size_t> ends_;  // The end of each cell.
};

class Json final : public Printer {
 public:
  Json(const Query& query, Write write)
      : query_(query), parts_(query.document), write_(std::move(write)) {
    write_(parts_.put("{\n  \"rows\": ["));
  }

  void page(const api::AccountingRows& rows) override {
    std::string text;
    each_shown(query_, rows, [&](const api::AccountingRow& job) {
      if (!std::exchange(first_, false)) text += ", ";
      cli::put_job_json(job, job.own_id(), 0, text);
    });
    write_(parts_.put(std::move(text)));
    now_ = rows.now();
    cluster_ = rows.cluster();
  }

  void finish() override {
    write_(parts_.put("],\n  \"now\": " + std::to_string(now_) + ",\n  \"cluster\": " +
                      quote(cluster_) + ",\n  \"meta\": " + cli::json_meta("aacct") + "\n}\n"));
    write_(parts_.finish());
  }

 private:
  const Query& query_;
  cli::DocumentParts parts_;
  Write write_;
  bool first_ = true;
  std::int64_t now_ = 0;
  std::string cluster_;
};

// Adds a line for each task of a row that represents several tasks.
bool expand(const api::AccountingRow& row,
            const std::function<void(const api::AccountingRow&)>& take) {
  const std::size_t percent = row.array_tasks().find('%');
  const auto tasks = parse_interval_set(row.array_tasks().substr(0, percent));
  if (!tasks) return false;
  api::AccountingRow one = row;
  one.clear_array_tasks();
  // Tasks are in the order of their indices.
  const auto all = parse_interval_set(row.array_spec().substr(0, row.array_spec().find('%')));
  for (const std::uint32_t task : *tasks) {
    one.mutable_key()->set_task(task);
    if (all && row.own_id() == row.key().job()) {
      std::uint64_t rank = 0;
      for (const IntervalSet::Interval& run : all->intervals()) {
        if (task > run.last) {
          rank += std::uint64_t{run.last} - run.first + 1;
          continue;
        }
        if (task >= run.first) rank += task - run.first;
        break;
      }
      one.set_own_id(row.key().job() + 1 + rank);
    }
    take(one);
  }
  return true;
}

}  // namespace

void each_shown(const Query& query, const api::AccountingRows& page,
                const std::function<void(const api::AccountingRow&)>& take) {
  if (!query.expand_arrays && !query.truncate) {
    for (const api::AccountingRow& row : page.rows()) take(row);
    return;
  }
  const std::int64_t start = query.filter.start(), end = query.filter.end();
  for (api::AccountingRow row : page.rows()) {
    if (query.truncate) {
      if (start && row.started() && row.started() < start) row.set_started(start);
      if (end && row.started() && (row.ended() == 0 || row.ended() > end)) row.set_ended(end);
    }
    if (query.expand_arrays && !row.array_tasks().empty() && expand(row, take)) continue;
    take(row);
  }
}

std::unique_ptr<Printer> make_printer(const Query& query, const std::vector<SelectedField>& chosen,
                                      unsigned terminal, Write write) {
  if (query.document) return std::make_unique<Json>(query, std::move(write));
  if (query.parsable || query.parsable2)
    return std::make_unique<Delimited>(query, chosen, std::move(write));
  return std::make_unique<Aligned>(query, chosen, query.own_format ? 0 : terminal,
                                   std::move(write));
}

}  // namespace ares::aacct
