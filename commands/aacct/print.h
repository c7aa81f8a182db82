// Prints aacct's rows page by page: aligned, with delimiters, or as JSON or YAML. Owned by aacct's main
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aacct/fields.h"
#include "aacct/query.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

using Write = std::function<void(std::string_view)>;

class Printer {
 public:
  virtual ~Printer() = default;
  virtual void page(const api::AccountingRows& rows) = 0;
  virtual void finish() = 0;  // Called after the last page.
};

// `query` and `chosen` must outlive the printer. `terminal` is the width of the terminal, 0 if
// there is none.
std::unique_ptr<Printer> make_printer(const Query& query, const std::vector<SelectedField>& chosen,
                                      unsigned terminal, Write write);

// Applies the client's own options to the rows (one line per waiting task, times limited to the
// window) and calls `take` with each result.
void each_shown(const Query& query, const api::AccountingRows& page,
                const std::function<void(const api::AccountingRow&)>& take);

}  // namespace ares::aacct
