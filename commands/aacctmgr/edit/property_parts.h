// Building blocks of the property tables of accounts, users and QOS. Pure functions; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aacctmgr/edit/property.h"

namespace ares::aacctmgr {

using Record = AccountingRecord;

// Whether the value clears the property.
bool clears(const std::string& value);
// Sets, adds or removes names. The list stays ascending.
void change_list(std::vector<std::string>& list, Op op, const std::string& value);
Status set_priority(std::uint32_t& priority, const std::string& value);
std::string priority_text(std::uint32_t priority);
// Adds a row for each limit that a QOS (`qos`), or else an account or user, may have.
void add_limits(std::vector<Property>& rows, bool qos);

std::vector<Property> qos_rows();  // qos_properties.cc

// A text property of a record of type R.
template <class R>
Property text_of(std::string name, std::vector<std::string> aliases, std::string argument,
                 std::string help, std::string R::*member) {
  return {.name = std::move(name),
          .aliases = std::move(aliases),
          .argument = std::move(argument),
          .help = std::move(help),
          .usual = {},
          .list = false,
          .set = [member](Record& record, Op, const std::string& value) -> Status {
            std::get<R>(record).*member = value;
            return {};
          },
          .get = [member](const Record& record) { return std::get<R>(record).*member; }};
}

}  // namespace ares::aacctmgr
