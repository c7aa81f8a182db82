// Committer: makes one batch durable, whatever becomes of the connection on the way. A step machine
// without clock or thread: whoever drives it does the waiting.
// Owned by the controller's journal thread, or by the simulation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/journal/journal.h"

namespace ares::store {

// While a connection is refused, waits double from `first` to `longest`.
struct RetryPace {
  Duration first{std::chrono::milliseconds(50)};
  Duration longest{std::chrono::seconds(5)};
};

class Committer {
 public:
  // The batch is durable. `epoch` is the one now in force: it grew if the connection was lost.
  struct Committed {
    Epoch epoch;
  };
  // Nothing can be said yet: call advance() again after the wait.
  struct RetryAfter {
    Duration wait;
    std::string why;
  };
  // An Error is final: the process must stop without letting anything out that waited for the batch.
  using Step = std::variant<Committed, RetryAfter, Error>;

  // `journal` is open under `epoch` and outlives the committer.
  Committer(Journal& journal, Epoch epoch, RetryPace pace = {});

  // Precondition: no batch is under way.
  void begin(std::shared_ptr<const Batch> batch);

  // Nothing to write: asks whether this controller still holds its epoch, by looking for the last event it committed. An idle
  // controller that was superseded learns of it no other way. Ends like a batch: Committed, or an Error that is final.
  void begin_check(Lsn last);

  bool under_way() const { return batch_ != nullptr || checked_; }

  // Goes on until something is known or must be waited for. Precondition: under_way().
  Step advance();

 private:
  enum class Phase {
    write,   // connected: send the batch
    doubt,   // the batch may be there; connect again and take the next epoch
    look_up  // connected again: is its last event there?
  };

  std::optional<Step> write();
  std::optional<Step> connect_again();
  std::optional<Step> look_up();
  Step committed();
  Step retry(std::string why);
  Step give_up(Error error);

  Journal& journal_;
  Epoch epoch_;
  RetryPace pace_;
  std::shared_ptr<const Batch> batch_;
  std::optional<Lsn> checked_;  // what a check looks for
  Phase phase_ = Phase::write;
  Duration wait_{};
  int doubts_ = 0;  // of this batch
};

}  // namespace ares::store
