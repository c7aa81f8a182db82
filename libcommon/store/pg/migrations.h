// The numbered changes of the database's tables, embedded from sql/migrations/ when the program is
// built, the views and functions of sql/views/, and the functions that bring a database up to date.
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

// Unlike migrations they may change: each release brings its own, in place of those before.
std::span<const Migration> views();

// Runs what is missing, each in a transaction of its own, under an advisory lock that all controllers
// of the database share. failed_precondition: the database has migrations this program does not know
// (a newer release made them), or one was changed after it ran; both by name.
Status migrate(PgConnection& connection, std::span<const Migration> wanted);

// Makes the views anew, all in one transaction, unless they are those of this program already. Waits a while for whoever reads
// them; unavailable: try again later.
Status load_views(PgConnection& connection, std::span<const Migration> wanted);

}  // namespace ares::store
