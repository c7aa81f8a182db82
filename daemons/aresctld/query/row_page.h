// The rows of one answer: messages, or a table if fields are selected and the rows are not few.
// Used by one query on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <google/protobuf/repeated_ptr_field.h>

#include "proto/gen/api.pb.h"
#include "proto/table.h"

namespace ares::aresctld {

template <class Row>
class RowPage {
 public:
  // `fields`: as Table.fields; empty = messages. `limit`: maximum of rows; 0 = as many as fit.
  // `fields` must outlive the page.
  RowPage(std::span<const std::uint32_t> fields, std::uint32_t limit)
      : fields_(fields), limit_(limit) {}

  // Precondition: the page is not full.
  void add(const Row& row) {
    ++count_;
    if (!table_ && !fields_.empty() && count_ > kFew) move_to_table();
    if (table_) {
      table_->add(row);
      return;
    }
    *plain_.Add() = row;
    plain_bytes_ += row.ByteSizeLong();
  }

  bool full() const {
    return (limit_ != 0 && count_ >= limit_) || (table_ ? table_->bytes() : plain_bytes_) >= kBytes;
  }
  bool empty() const { return count_ == 0; }

  // Moves the rows to the answer. `Page` is api::Jobs or api::Nodes; `plain` is its field for rows.
  template <class Page>
  void move_to(Page& page, google::protobuf::RepeatedPtrField<Row>& plain) {
    plain.Swap(&plain_);
    if (table_) *page.mutable_table() = table_->take();
  }

 private:
  // To read a table a client builds descriptors of the whole API: slower than a few rows.
  static constexpr std::uint32_t kFew = 16;
  // Maximum size of a page: building, sealing and sending it keeps one of few threads busy.
  static constexpr std::size_t kBytes = 1 << 20;

  void move_to_table() {
    table_.emplace(Row::default_instance(), fields_);
    for (const Row& row : plain_) table_->add(row);
    plain_.Clear();
  }

  const std::span<const std::uint32_t> fields_;
  const std::uint32_t limit_;
  std::uint32_t count_ = 0;
  google::protobuf::RepeatedPtrField<Row> plain_;
  std::size_t plain_bytes_ = 0;
  std::optional<proto::TableWriter> table_;
};

}  // namespace ares::aresctld
