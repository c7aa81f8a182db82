#include "proto/table.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <utility>

namespace ares::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

TableField find(const Message& kind, std::uint32_t number) {
  const auto inner = static_cast<int>(number & 0xffff);
  TableField at;
  at.row = kind.GetReflection();
  const Message* holder = &kind;
  if (number >> 16 != 0) {
    at.outer = kind.GetDescriptor()->FindFieldByNumber(static_cast<int>(number >> 16));
    if (!at.outer || at.outer->is_repeated() || !at.outer->message_type()) return {};
    holder = &at.row->GetMessage(kind, at.outer);
  }
  at.holder = holder->GetReflection();
  at.field = holder->GetDescriptor()->FindFieldByNumber(inner);
  if (!at.field) return {};
  at.type = at.field->cpp_type();
  at.repeated = at.field->is_repeated();
  at.optional = !at.repeated && at.field->has_presence();
  return at;
}

const std::string& text_of(const Message& m, const TableField& at, int index,
                           std::string& scratch) {
  return index < 0 ? at.holder->GetStringReference(m, at.field, &scratch)
                   : at.holder->GetRepeatedStringReference(m, at.field, index, &scratch);
}

// `index` < 0: the field is not repeated. Not for strings and messages.
std::uint64_t number_of(const Message& m, const TableField& at, int index) {
  const Reflection& r = *at.holder;
  const FieldDescriptor* f = at.field;
  const bool one = index < 0;
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  switch (at.type) {
    case FieldDescriptor::CPPTYPE_INT32:
      return number(one ? r.GetInt32(m, f) : r.GetRepeatedInt32(m, f, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return number(one ? r.GetInt64(m, f) : r.GetRepeatedInt64(m, f, index));
    case FieldDescriptor::CPPTYPE_UINT32:
      return number(one ? r.GetUInt32(m, f) : r.GetRepeatedUInt32(m, f, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return number(one ? r.GetUInt64(m, f) : r.GetRepeatedUInt64(m, f, index));
    case FieldDescriptor::CPPTYPE_BOOL:
      return number(one ? r.GetBool(m, f) : r.GetRepeatedBool(m, f, index));
    case FieldDescriptor::CPPTYPE_ENUM:
      return number(one ? r.GetEnumValue(m, f) : r.GetRepeatedEnumValue(m, f, index));
    default: return 0;  // rows of tables have no floating-point fields
  }
}

void set_number(Message& m, const TableField& at, std::uint64_t value) {
  const Reflection& r = *at.holder;
  const FieldDescriptor* f = at.field;
  const bool many = at.repeated;
  switch (at.type) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto number = static_cast<std::int32_t>(value);
      return many ? r.AddInt32(&m, f, number) : r.SetInt32(&m, f, number);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const auto number = static_cast<std::int64_t>(value);
      return many ? r.AddInt64(&m, f, number) : r.SetInt64(&m, f, number);
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      const auto number = static_cast<std::uint32_t>(value);
      return many ? r.AddUInt32(&m, f, number) : r.SetUInt32(&m, f, number);
    }
    case FieldDescriptor::CPPTYPE_UINT64:
      return many ? r.AddUInt64(&m, f, value) : r.SetUInt64(&m, f, value);
    case FieldDescriptor::CPPTYPE_BOOL:
      return many ? r.AddBool(&m, f, value != 0) : r.SetBool(&m, f, value != 0);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto number = static_cast<int>(value);
      return many ? r.AddEnumValue(&m, f, number) : r.SetEnumValue(&m, f, number);
    }
    default: return;
  }
}

}  // namespace

std::vector<std::uint32_t> all_fields(const Descriptor& row, std::span<const int> expanded) {
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < row.field_count(); ++i) {
    const FieldDescriptor& field = *row.field(i);
    const bool open = std::find(expanded.begin(), expanded.end(), field.number()) != expanded.end();
    if (!open) {
      numbers.push_back(static_cast<std::uint32_t>(field.number()));
      continue;
    }
    for (int k = 0; k < field.message_type()->field_count(); ++k)
      numbers.push_back(nested_field(field.number(), field.message_type()->field(k)->number()));
  }
  return numbers;
}

TableWriter::TableWriter(const Message& kind, std::span<const std::uint32_t> fields) {
  for (const std::uint32_t number : fields) {
    const TableField at = find(kind, number);
    if (!at.field) continue;
    table_.add_fields(number);
    columns_.push_back({at, 0, {}, false});
  }
}

void TableWriter::add(const Message& row) {
  std::string& cells = *table_.mutable_cells();
  const std::size_t mask = cells.size();
  cells.append((columns_.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const TableField& at = columns_[i].at;
    const Message& holder = at.outer ? at.row->GetMessage(row, at.outer) : row;
    if (at.repeated ? put_repeated(columns_[i], holder) : put(columns_[i], holder))
      cells[mask + i / 8] = static_cast<char>(cells[mask + i / 8] | 1 << i % 8);
  }
  table_.set_rows(table_.rows() + 1);
}

bool TableWriter::put(Column& column, const Message& holder) {
  const TableField& at = column.at;
  const bool present = !at.optional || at.holder->HasField(holder, at.field);
  const bool was_present = !at.optional || column.last_present;
  const std::uint64_t cell = present ? cell_of(column, holder, -1) : 0;
  if (present == was_present && (!present || cell == column.last)) return false;
  column.last_present = present;
  if (present) column.last = cell;
  if (at.optional) write(present ? 1 : 0);
  if (present) write(cell);
  return true;
}

bool TableWriter::put_repeated(Column& column, const Message& holder) {
  const int count = column.at.holder->FieldSize(holder, column.at.field);
  if (count == 0 && column.last == 0) return false;
  column.last = static_cast<std::uint64_t>(count);
  write(column.last);
  for (int i = 0; i < count; ++i) write(cell_of(column, holder, i));
  return true;
}

std::uint64_t TableWriter::cell_of(Column& column, const Message& holder, int index) {
  const TableField& at = column.at;
  switch (at.type) {
    case FieldDescriptor::CPPTYPE_STRING:
      return text_index(column, text_of(holder, at, index, scratch_));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const Message& part = index < 0 ? at.holder->GetMessage(holder, at.field)
                                      : at.holder->GetRepeatedMessage(holder, at.field, index);
      return text_index(column, part.SerializeAsString());
    }
    default: return number_of(holder, at, index);
  }
}

std::uint64_t TableWriter::text_index(Column& column, const std::string& text) {
  if (text.empty()) return 0;
  // Adjacent rows often have the same text.
  if (!column.at.repeated && column.last != 0 && column.last_text == text) return column.last;
  auto found = text_indexes_.find(text);
  if (found == text_indexes_.end()) {
    const std::string& kept = *table_.add_texts() = text;
    text_bytes_ += text.size() + 2;
    found = text_indexes_.emplace(kept, static_cast<std::uint64_t>(table_.texts_size())).first;
  }
  column.last_text = text;
  return found->second;
}

void TableWriter::write(std::uint64_t cell) {
  std::string& cells = *table_.mutable_cells();
  for (; cell >= 0x80; cell >>= 7) cells += static_cast<char>(cell | 0x80);
  cells += static_cast<char>(cell);
}

TableReader::TableReader(const api::Table& table, const Message& kind)
    : table_(&table), row_(kind.New()), left_(table.cells()) {}
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;
TableReader::~TableReader() = default;

Result<TableReader> TableReader::open(const api::Table& table, const Message& kind) {
  TableReader reader(table, kind);
  for (const std::uint32_t number : table.fields()) {
    const TableField at = find(kind, number);
    if (!at.field)
      return fail(ErrorCode::data_loss,
                  "the controller's answer has a field that was not asked for (" +
                      std::to_string(number) + ")");
    reader.fields_.push_back(at);
    if (at.outer) at.row->MutableMessage(reader.row_.get(), at.outer);
  }
  return reader;
}

Result<const Message*> TableReader::next() {
  if (read_ == table_->rows()) return nullptr;
  ++read_;
  const std::string_view mask = left_.substr(0, (fields_.size() + 7) / 8);
  broken_ = broken_ || mask.size() < (fields_.size() + 7) / 8;
  left_.remove_prefix(mask.size());
  for (std::size_t i = 0; i < fields_.size() && !broken_; ++i) {
    if ((mask[i / 8] >> i % 8 & 1) == 0) continue;
    const TableField& at = fields_[i];
    Message& holder = at.outer ? *at.row->MutableMessage(row_.get(), at.outer) : *row_;
    if (!get(at, holder)) broken_ = true;
  }
  if (broken_) return fail(ErrorCode::data_loss, "the controller's answer is damaged");
  return row_.get();
}

bool TableReader::get(const TableField& at, Message& holder) {
  if (at.repeated) {
    at.holder->ClearField(&holder, at.field);
    for (std::uint64_t count = cell(); count > 0; --count)
      if (broken_ || !get_one(at, holder, cell())) return false;
    return true;
  }
  if (at.optional && cell() == 0) {
    at.holder->ClearField(&holder, at.field);
    return true;
  }
  return get_one(at, holder, cell());
}

bool TableReader::get_one(const TableField& at, Message& holder, std::uint64_t value) {
  switch (at.type) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (at.repeated)
        at.holder->AddString(&holder, at.field, text(value));
      else
        at.holder->SetString(&holder, at.field, text(value));
      return true;
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      Message* part = at.repeated ? at.holder->AddMessage(&holder, at.field)
                                  : at.holder->MutableMessage(&holder, at.field);
      return part->ParseFromString(text(value));
    }
    default: set_number(holder, at, value); return true;
  }
}

std::uint64_t TableReader::cell() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < left_.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(left_[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << 7 * i;
    if (byte >= 0x80) continue;
    left_.remove_prefix(i + 1);
    return value;
  }
  broken_ = true;
  return 0;
}

const std::string& TableReader::text(std::uint64_t place) {
  static const std::string kEmpty;
  if (place == 0) return kEmpty;
  if (place <= static_cast<std::uint64_t>(table_->texts_size()))
    return table_->texts(static_cast<int>(place - 1));
  broken_ = true;
  return kEmpty;
}

}  // namespace ares::proto
