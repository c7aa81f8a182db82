// Tables of rows, as the controller sends them: what was read and written is read as the same rows.
#include "fuzz/target.h"
#include "proto/gen/api.pb.h"
#include "proto/table.h"

namespace ares::fuzz {

// A cell of one byte may stand for a text as long as the input.
const Allowance kAllowance{kReservedByProtobuf + (4 << 20), 1 << 20};

namespace {

constexpr std::size_t kMostRows = 1000;

template <class Row>
void try_rows(const api::Table& table) {
  std::vector<std::string> rows;
  bool utf8 = true;  // a table carries other texts too, a message within a row does not
  const std::vector<std::uint32_t> fields(table.fields().begin(), table.fields().end());
  proto::TableWriter writer(Row::default_instance(), fields);
  const Status read = proto::read_table<Row>(table, [&](const Row& row) {
    rows.push_back(row.SerializeAsString());
    utf8 = utf8 && Row().ParseFromString(rows.back());
    writer.add(row);
  });
  if (!read) return require_refusal(read.error());
  require(rows.size() == table.rows(), "every row is read");
  if (!utf8) return;
  const api::Table written = writer.take();
  std::size_t at = 0;
  const Status again = proto::read_table<Row>(written, [&](const Row& row) {
    require(at < rows.size() && row.SerializeAsString() == rows[at++],
            "a row survives being written");
  });
  require(again && at == rows.size(), "a written table can be read");
}

}  // namespace

void try_input(std::string_view input) {
  api::Table table;
  if (input.empty() ||
      !table.ParseFromArray(input.data() + 1, static_cast<int>(input.size() - 1)) ||
      table.rows() > kMostRows)
    return;
  switch (input[0] % 3) {
    case 0: return try_rows<api::Job>(table);
    case 1: return try_rows<api::Node>(table);
    default: return try_rows<api::AccountingRow>(table);
  }
}

}  // namespace ares::fuzz
