// The lines of a listing: which, in what order.
// Pure functions; what they give points into what they were given. Any thread.
#pragma once

#include <deque>
#include <vector>

#include "aacctmgr/show/fields.h"

namespace ares::aacctmgr {

struct ListingOptions {
  bool with_associations = false;
  bool with_coordinators = false;  // adds the field Coordinators
  bool tree = false;
};

// What a row names that is no record by itself (a user who coordinates).
struct Rows {
  std::vector<Row> rows;
  std::deque<User> extra_users;
};

// Associations come as the tree has them: an account, its users, then the accounts below it; all others ascending.
Rows rows_of(const Snapshot& snapshot, Entity entity, const Where& where,
             const ListingOptions& options);

// What was probably not meant: accounts without users below them, users in no account or without a default one, wckeys that no user has
// any more, records that refer to what is not there or may not be used, and users whose jobs have to name a QOS.
std::vector<std::string> problems(const Snapshot& snapshot);

// The same records as JSON: maps accounts, users, associations, qos and wckeys, with amounts as numbers.
std::string json_of(const Snapshot& snapshot, const Rows& rows);

// With a line of fields first, unless that is not wanted.
struct PrintOptions {
  bool no_header = false;
  bool parsable = false;   // -p: a | behind the last
  bool parsable2 = false;  // -P
};
std::string print(const std::vector<Row>& rows, const std::vector<SelectedField>& chosen,
                  const PrintOptions& options);

}  // namespace ares::aacctmgr
