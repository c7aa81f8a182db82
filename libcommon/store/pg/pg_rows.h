// Converts a batch to the statements of its transaction, with their parameters.
// Used by PgJournal; journal thread only.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "store/journal/journal.h"
#include "store/pg/catalogue.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

// Every statement that pg_steps() uses, for PgConnection::prepare().
std::vector<const PgStatement*> pg_statements();

// Specifications that the database already stores with a record: they never change and are not sent
// again. Holding them prevents reuse of their addresses.
using StoredSpecs = std::unordered_map<JobKey, std::shared_ptr<const JobSpec>>;

// `epoch` is the current one. Only the contents of the batch are sent.
std::vector<PgStep> pg_steps(const Batch& batch, Epoch epoch, ClusterId cluster,
                             const Catalogue& catalogue, const StoredSpecs& stored);

// Call after the commit.
void remember_specs(const Batch& batch, StoredSpecs& stored);

// Call if the commit is in doubt: it is no longer known what the database stores of these records.
void forget_specs(const Batch& batch, StoredSpecs& stored);

}  // namespace ares::store
