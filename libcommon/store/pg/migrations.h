// Numbered changes of the database's tables, embedded from sql/migrations/ when the program is
// built, the views and functions of sql/views/, and functions that bring a database up to date.
// Called by PgJournal::open(); journal thread only.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace ares::store {

class PgConnection;

struct Migration {
  std::string_view name;      // "0001_foundation"
  std::string_view checksum;  // SHA-256, hexadecimal
  std::string_view sql;
};

std::span<const Migration> migrations();

// Views may change, unlike migrations: each release replaces those of the previous one.
std::span<const Migration> views();

// Runs missing migrations, each in its own transaction, under an advisory lock shared by all
// controllers of the database. failed_precondition: the database has an unknown migration (of a
// newer release), or one changed after it ran; the text has its name.
Status migrate(PgConnection& connection, std::span<const Migration> wanted);

// Recreates the views in one transaction, unless they are those of this program already. Waits
// for readers up to a limit; unavailable: try again later.
Status load_views(PgConnection& connection, std::span<const Migration> wanted);

}  // namespace ares::store
