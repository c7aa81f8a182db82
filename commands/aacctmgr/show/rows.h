// Selects and orders the lines of a listing. Pure functions; the results point into the arguments.
// Any thread.
#pragma once

#include <deque>
#include <vector>

#include "aacctmgr/show/fields.h"

namespace ares::aacctmgr {

struct ListingOptions {
  bool with_associations = false;
  bool with_coordinators = false;  // Adds the field Coordinators.
  bool tree = false;
  bool (*knows_user)(const std::string& name) =
      nullptr;  // of the machine, for problems; null: each
};

// The rows, and the storage of names that are not records themselves (coordinators).
struct Rows {
  std::vector<Row> rows;
  std::deque<User> extra_users;
};

// Associations are in tree order: an account, its users, then the accounts below it. All other
// entities are ascending.
Rows rows_of(const Snapshot& snapshot, Entity entity, const Where& where,
             const ListingOptions& options);

// Describes probable mistakes: accounts without users below them, users without an account or
// default account or that the machine does not know, wckeys that no user has, references to missing or disallowed records, and users
// whose jobs must name a QOS.
std::vector<std::string> problems(const Snapshot& snapshot, const ListingOptions& options = {});

// The same records as JSON: the maps accounts, users, associations, qos and wckeys, with amounts as
// numbers.
std::string json_of(const Snapshot& snapshot, const Rows& rows);

// Options of printing. A header line comes first unless it is turned off.
struct PrintOptions {
  bool no_header = false;
  bool parsable = false;   // -p: ends each line with |.
  bool parsable2 = false;  // -P
};
std::string print(const std::vector<Row>& rows, const std::vector<SelectedField>& chosen,
                  const PrintOptions& options);

}  // namespace ares::aacctmgr
