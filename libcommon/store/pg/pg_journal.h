// PgJournal: the Journal in PostgreSQL. One transaction for each batch, one round trip each.
// Owned by the controller's journal thread; other threads may call only blob().
#pragma once

#include <memory>

#include "store/journal/journal.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class PgJournal final : public Journal {
 public:
  explicit PgJournal(PgOptions options);
  ~PgJournal() override;

  Result<Opened> open() override;
  Result<Opened> reopen() override;
  Result<CommitOutcome> commit(const Batch& batch) override;
  Result<bool> contains(Lsn lsn) override;
  Result<std::shared_ptr<const std::string>> blob(const BlobId& id) override;
  Result<std::string> secret() override;

  // Why the last commit is in doubt, for the log.
  const std::string& doubt() const;

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace ares::store
