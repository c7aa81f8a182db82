// FaultyJournal: a Journal whose connection breaks where a script says so. For tests and the
// simulation. Owned like the journal it wraps.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "store/journal/journal.h"

namespace ares::store {

class FaultyJournal final : public Journal {
 public:
  enum class Operation { open, reopen, commit, contains, blob };

  enum class Fault {
    none,
    before,  // the connection breaks before the request arrives: no effect
    after,   // it takes effect, but the answer is lost (or a commit is confirmed with a warning)
    refuse,  // the server answers with a final error; no effect
    full,    // the server has no room to write: no effect, and the connection stays
  };

  // Called before every operation; `batch` for commits only. It may also wait or advance a clock.
  using Script = std::function<Fault(Operation operation, const Batch* batch)>;

  FaultyJournal(std::unique_ptr<Journal> inner, Script script)
      : inner_(std::move(inner)), script_(std::move(script)) {}

  Result<Opened> open() override;
  Result<Opened> reopen() override;
  Result<CommitOutcome> commit(const Batch& batch) override;
  Result<bool> contains(Lsn lsn) override;
  Result<std::shared_ptr<const std::string>> blob(const BlobId& id) override;
  Result<std::string> secret() override;

 private:
  template <class Run>
  auto connecting(Operation operation, Run&& run) -> decltype(run());

  std::unique_ptr<Journal> inner_;
  Script script_;
  bool connected_ = false;  // a broken connection stays broken until reopen()
};

}  // namespace ares::store
