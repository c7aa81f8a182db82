// Rows of messages as a compact table: only the requested fields, and each distinct text once.
// A writer or reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
class Message;
class Reflection;
}  // namespace google::protobuf

namespace ares::proto {

// The number in api::Table.fields of a field within a row's field, such as a job's spec.comment.
constexpr std::uint32_t nested_field(int outer, int inner) {
  return static_cast<std::uint32_t>(outer) << 16 | static_cast<std::uint32_t>(inner);
}

// All fields of a kind of row, ascending. Fields in `expanded` are replaced by their own fields.
std::vector<std::uint32_t> all_fields(const google::protobuf::Descriptor& row,
                                      std::span<const int> expanded);

// How a cell is read from and written to a row. Built once, because reflection look-ups are slow.
struct TableField {
  const google::protobuf::FieldDescriptor* outer = nullptr;  // null: the field is the row's own
  const google::protobuf::FieldDescriptor* field = nullptr;  // null: the field does not exist
  const google::protobuf::Reflection* row = nullptr;         // of the row
  const google::protobuf::Reflection* holder = nullptr;      // of the field's message
  int type = 0;                                              // FieldDescriptor::CppType
  bool repeated = false;
  bool optional = false;
};

// Cells are varints as in protocol buffers. A row begins with a bit for each field, lowest bit first, padded to whole bytes. The bit
// is set if the field differs from the row before (first row: from empty; repeated: unless both are empty); only cells of such fields
// follow. A number is its own cell, a text its index in `texts` plus one (0 = empty), a message the text of its bytes. An optional field
// is 0 if absent, else 1 and its cell. A repeated field is its number of elements and then their cells.
class TableWriter {
 public:
  // Field numbers that `kind` does not have are left out.
  TableWriter(const google::protobuf::Message& kind, std::span<const std::uint32_t> fields);
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // Precondition: `row` is of the same type as `kind`.
  void add(const google::protobuf::Message& row);

  std::uint32_t rows() const { return table_.rows(); }
  // Approximate size of the table on the wire.
  std::size_t bytes() const { return text_bytes_ + table_.cells().size(); }

  // The writer is empty afterwards and must not be used again.
  api::Table take() { return std::move(table_); }

 private:
  struct Column {
    TableField at;
    std::uint64_t last =
        0;  // cell of the previous row; of a repeated field the number of its elements
    std::string last_text;  // text of that cell
    bool last_present = false;
  };

  // Writes the column's cells if they differ from the previous row; returns whether they did.
  bool put(Column& column, const google::protobuf::Message& holder);
  bool put_repeated(Column& column, const google::protobuf::Message& holder);
  std::uint64_t cell_of(Column& column, const google::protobuf::Message& holder, int index);
  std::uint64_t text_index(Column& column, const std::string& text);
  void write(std::uint64_t cell);

  api::Table table_;
  std::vector<Column> columns_;
  std::unordered_map<std::string_view, std::uint64_t> text_indexes_;  // views of table_.texts
  std::size_t text_bytes_ = 0;
  std::string scratch_;
};

class TableReader {
 public:
  // `table` must outlive the reader. data_loss: it has a field that rows of this kind do not have.
  static Result<TableReader> open(const api::Table& table, const google::protobuf::Message& kind);
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;
  ~TableReader();

  // The next row, valid until the next call; null after the last. data_loss: the table is damaged.
  Result<const google::protobuf::Message*> next();

 private:
  TableReader(const api::Table& table, const google::protobuf::Message& kind);

  bool get(const TableField& at, google::protobuf::Message& holder);
  bool get_one(const TableField& at, google::protobuf::Message& holder, std::uint64_t value);
  std::uint64_t cell();
  const std::string& text(std::uint64_t place);

  const api::Table* table_;
  std::unique_ptr<google::protobuf::Message> row_;  // current row, built from the previous one
  std::vector<TableField> fields_;
  std::uint32_t read_ = 0;
  std::string_view left_;  // cells of table_ that were not read yet
  bool broken_ = false;
};

// Calls take(const Row&) for each row of a table. data_loss: the table is damaged.
template <class Row, class Take>
Status read_table(const api::Table& table, Take&& take) {
  auto reader = TableReader::open(table, Row::default_instance());
  if (!reader) return fail(reader.error());
  for (;;) {
    const auto row = reader->next();
    if (!row) return fail(row.error());
    if (!*row) return {};
    take(static_cast<const Row&>(**row));
  }
}

// The same for a page of rows: few are sent as messages, many in a table.
template <class Row, class Take>
Status read_rows(const google::protobuf::RepeatedPtrField<Row>& plain, const api::Table& table,
                 Take&& take) {
  for (const Row& row : plain) take(row);
  return read_table<Row>(table, take);
}

}  // namespace ares::proto
