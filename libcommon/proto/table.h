// Rows of messages as a compact table: only the fields asked for, and every text once however many rows have it.
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

// Every field of a kind of row, in ascending order; of the fields in `opened` every field instead of the whole.
std::vector<std::uint32_t> all_fields(const google::protobuf::Descriptor& row,
                                      std::span<const int> expanded);

// One cell's way into and out of a row. Looked up once: finding a message's reflection costs more than using it.
struct TableField {
  const google::protobuf::FieldDescriptor* outer = nullptr;  // null: the field is the row's own
  const google::protobuf::FieldDescriptor* field = nullptr;  // null: there is no such field
  const google::protobuf::Reflection* row = nullptr;         // of the row
  const google::protobuf::Reflection* holder = nullptr;      // of what the field belongs to
  int type = 0;                                              // FieldDescriptor::CppType
  bool repeated = false;
  bool optional = false;
};

// Cells are varints, as protocol buffers write them. A row begins with a bit for each field, lowest first in as many bytes as it takes:
// set if the field differs from the row before (from empty in the first row); only those fields' cells follow. A number is its cell, a
// text its place in `texts` plus one (0 = empty), a message the text of its bytes. An optional field that is absent is 0, else one more
// cell follows a 1; a repeated field's cells follow their number.
class TableWriter {
 public:
  // Numbers that `kind` does not have are left out.
  TableWriter(const google::protobuf::Message& kind, std::span<const std::uint32_t> fields);
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // Precondition: of the kind given.
  void add(const google::protobuf::Message& row);

  std::uint32_t rows() const { return table_.rows(); }
  // Roughly what the table takes on the wire.
  std::size_t bytes() const { return text_bytes_ + table_.cells().size(); }

  // The writer is empty afterwards and must not be used again.
  api::Table take() { return std::move(table_); }

 private:
  struct Column {
    TableField at;
    std::uint64_t last =
        0;  // its cell in the row before; of a repeated field the number of its cells
    std::string last_text;  // what that stands for
    bool last_present = false;
  };

  // Whether the column's cells differ from the row before; if so they were written.
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
  // `table` must outlive the reader. data_loss: a field that rows of this kind do not have.
  static Result<TableReader> open(const api::Table& table, const google::protobuf::Message& kind);
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;
  ~TableReader();

  // The next row: valid until the next call, null after the last. data_loss: not a table.
  Result<const google::protobuf::Message*> next();

 private:
  TableReader(const api::Table& table, const google::protobuf::Message& kind);

  bool get(const TableField& at, google::protobuf::Message& holder);
  bool get_one(const TableField& at, google::protobuf::Message& holder, std::uint64_t value);
  std::uint64_t cell();
  const std::string& text(std::uint64_t place);

  const api::Table* table_;
  std::unique_ptr<google::protobuf::Message> row_;  // changed from row to row
  std::vector<TableField> fields_;
  std::uint32_t read_ = 0;
  std::string_view left_;  // of table_'s cells
  bool broken_ = false;
};

// Calls take(const Row&) for each row of a table. data_loss: it is not one.
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

// The same for a page of rows, of which a few come as they are and many in a table.
template <class Row, class Take>
Status read_rows(const google::protobuf::RepeatedPtrField<Row>& plain, const api::Table& table,
                 Take&& take) {
  for (const Row& row : plain) take(row);
  return read_table<Row>(table, take);
}

}  // namespace ares::proto
