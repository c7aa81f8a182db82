// From a batch to the statements of its transaction and their parameters.
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

// Specifications that the database already has beside a record: they never change and are not sent
// again. Holding them keeps their addresses from being used for others.
using StoredSpecs = std::unordered_map<JobKey, std::shared_ptr<const JobSpec>>;

// `epoch` is the one now in force. Only what the batch holds is sent.
std::vector<PgStep> pg_steps(const Batch& batch, Epoch epoch, ClusterId cluster,
                             const Catalogue& catalogue, const StoredSpecs& stored);

// After the commit.
void remember_specs(const Batch& batch, StoredSpecs& stored);

// Where the commit is in doubt: what the database has of these records is not known any more.
void forget_specs(const Batch& batch, StoredSpecs& stored);

}  // namespace ares::store
