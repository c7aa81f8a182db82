// Adds to rows of attempts the steps that were recorded of them. Pure, but for the rows of the database;
// any thread.
#pragma once

#include <string>

#include "proto/gen/api.pb.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_params.h"

namespace ares::store {

// Steps that one answer holds at most, unless one job has more.
inline constexpr std::uint32_t kMostAnsweredSteps = 50'000;

struct StepStatement {
  std::string sql;
  PgParams params;
};
// Reads the steps of these rows, which ascend by job and task.
StepStatement step_statement(const api::AccountingRows& rows);

// Puts the steps to their rows. Rows whose steps were not all read are removed from the page, which then
// ends before them.
void add_steps(const PgRows& steps, api::AccountingRows& rows);

}  // namespace ares::store
