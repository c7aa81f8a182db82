#include "ainfo/reservations.h"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/timespec.h"
#include "cli/output/table.h"

namespace ares::ainfo {
namespace {

struct ReservationColumn {
  const char* header;
  bool right;
  std::string (*text)(const api::Reservation& one);
};

std::string time_text(std::int64_t micros) {
  return format_local_time(Time(Duration(micros)));
}

constexpr ReservationColumn kColumns[] = {
    {"RESV_NAME", false, [](const api::Reservation& r) { return r.name(); }},
    {"STATE", true, [](const api::Reservation& r) { return r.state(); }},
    {"START_TIME", true, [](const api::Reservation& r) { return time_text(r.start()); }},
    {"END_TIME", true, [](const api::Reservation& r) { return time_text(r.end()); }},
    {"DURATION", true,
     [](const api::Reservation& r) {
       return format_duration(std::chrono::floor<Seconds>(Duration(r.end() - r.start())));
     }},
    {"NODELIST", false, [](const api::Reservation& r) { return r.nodes(); }},
};

}  // namespace

ReservedNodes reserved_nodes(const api::Reservations& all) {
  ReservedNodes reserved;
  for (const api::Reservation& one : all.reservations()) {
    if (one.state() != "ACTIVE") continue;
    const auto names = expand_hostlist(one.nodes());
    if (!names) continue;
    for (const std::string& node : *names) {
      std::string& text = reserved[node];
      text += (text.empty() ? "" : ",") + one.name();
    }
  }
  return reserved;
}

std::string list_reservations(const api::Reservations& all, bool with_header) {
  std::vector<cli::FormatItem> items;
  std::vector<cli::GridColumn> columns;
  for (const ReservationColumn& column : kColumns) {
    cli::FormatItem item;
    item.name = column.header;
    item.fit = true;
    item.right = column.right;
    item.literal = "  ";
    items.push_back(std::move(item));
    columns.push_back({column.header});
  }
  items.back().literal.clear();
  cli::Grid grid(std::move(items), std::move(columns));
  for (const api::Reservation& one : all.reservations()) {
    for (const ReservationColumn& column : kColumns) {
      grid.text() += column.text(one);
      grid.end_cell();
    }
    grid.end_row();
  }
  return grid.layout(with_header);
}

}  // namespace ares::ainfo
