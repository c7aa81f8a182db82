// EndedRows: rows of attempts that ended, for a client that is told of them. A plain value; any thread.
#pragma once

#include "base/ids.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

struct EndedRows {
  api::AccountingRows rows;  // in the order in which they were stored
  Lsn upto;                  // the last change that was looked at for them
  bool missed =
      false;  // some that ended before are in no row, since the journal does not reach back
};

}  // namespace ares::aresctld
