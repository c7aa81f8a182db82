// The order of a listing's rows: "P,t,-p", letters or names of its columns. A sorter belongs to one
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace ares::cli {

template <class Row>
struct SortTerm {
  const Column<Row>* column = nullptr;
  bool descending = false;
};

// Parses comma-separated columns, with '-' for descending and '+' for ascending order. Returns
// invalid_argument for an unknown column.
template <class Row>
Result<std::vector<SortTerm<Row>>> parse_sort(std::string_view keys, const Columns<Row>& columns) {
  std::vector<SortTerm<Row>> terms;
  for (const std::string& item : split(keys, ',')) {
    const bool marked = item.starts_with('-') || item.starts_with('+');
    const std::string word = item.substr(marked ? 1 : 0);
    FormatItem format_item;
    if (word.size() == 1)
      format_item.letter = word[0];
    else
      format_item.name = word;
    if (word.empty())
      return fail(ErrorCode::invalid_argument,
                  "cannot sort by " + quote(keys) + ": a key is empty");
    const auto found = find_column(columns, format_item);
    if (!found)
      return fail(ErrorCode::invalid_argument,
                  "cannot sort by " + quote(item) + ": " + found.error().message);
    terms.push_back({*found, item.starts_with('-')});
  }
  return terms;
}

// Stores each row's keys when it is added, so that rows need not be kept.
template <class Row>
class Sorter {
 public:
  explicit Sorter(std::vector<SortTerm<Row>> terms) : terms_(std::move(terms)) {}

  bool empty() const { return terms_.empty(); }

  void add(const Row& row) {
    for (const auto& term : terms_) {
      if (term.column->number) {
        keys_.push_back({term.column->number(row), 0, 0});
        continue;
      }
      const auto begin = texts_.size();
      term.column->put(row, texts_);
      keys_.push_back({0, begin, texts_.size() - begin});
      reuse_last();
    }
    ++rows_;
  }

  // The rows' numbers in order; equal rows keep the order in which they were added.
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> rows(rows_);
    std::iota(rows.begin(), rows.end(), 0u);
    if (terms_.empty()) return rows;
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      for (std::size_t i = 0; i < terms_.size(); ++i) {
        const int sign = compare(keys_[a * terms_.size() + i], keys_[b * terms_.size() + i]);
        if (sign != 0) return terms_[i].descending ? sign > 0 : sign < 0;
      }
      return false;
    });
    return rows;
  }

 private:
  struct Key {
    std::int64_t number;
    std::size_t begin, size;  // within texts_
  };

  // Consecutive rows often have equal texts. They then share storage, and comparing them needs no
  // access to the text.
  void reuse_last() {
    if (keys_.size() <= terms_.size()) return;
    Key& key = keys_.back();
    const Key& before = keys_[keys_.size() - 1 - terms_.size()];
    if (text(key) != text(before)) return;
    texts_.resize(key.begin);
    key = before;
  }

  std::string_view text(const Key& key) const {
    return std::string_view(texts_).substr(key.begin, key.size);
  }

  int compare(const Key& a, const Key& b) const {
    if (a.number != b.number) return a.number < b.number ? -1 : 1;
    return a.begin == b.begin && a.size == b.size ? 0 : text(a).compare(text(b));
  }

  std::vector<SortTerm<Row>> terms_;
  std::vector<Key> keys_;
  std::string texts_;
  std::uint32_t rows_ = 0;
};

}  // namespace ares::cli
