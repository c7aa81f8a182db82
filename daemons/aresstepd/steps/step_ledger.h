// StepLedger: the accounting of the attempt's steps, kept for the node daemon (node/step_ledger.h). Owned by
// the step host on the job's first node; one thread.
//
// It is a mapped file of fixed size that only root can open. The host maps it before it becomes the job's user:
// what a user could write to without bounds would let it fill the disk of the spool.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "node/step_ledger.h"
#include "steps/account.h"

namespace ares::stepd {

class StepLedger {
 public:
  // Opens or makes the file `name` in the directory. An earlier host's steps stay in it; those that it
  // left running have ended with it.
  static Result<StepLedger> open(const std::string& directory, const std::string& name, Time now);
  StepLedger() = default;  // keeps nothing
  ~StepLedger();
  StepLedger(StepLedger&& other) noexcept;
  StepLedger& operator=(StepLedger&& other) noexcept;

  // Of steps beyond kMostSteps only the sum is kept, once they have ended.
  void put(const steps::StepAccount& account, Time now);

 private:
  explicit StepLedger(node::LedgerPage* page) : page_(page) {}

  node::LedgerPage* page_ = nullptr;
};

}  // namespace ares::stepd
