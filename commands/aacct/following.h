// aacct --follow: the rows of attempts as they end, behind those that the query lists. Called on aacct's main thread.
#pragma once

#include <functional>
#include <vector>

#include "aacct/fields.h"
#include "aacct/print.h"
#include "aacct/query.h"
#include "base/result.h"
#include "rpc/client/client.h"

namespace ares::aacct {

// Prints what the query lists now with the printer that it is given, and passes each page to the other function.
using PrintListed =
    std::function<Status(rpc::Client& client, Printer& printer,
                         const std::function<void(const api::AccountingRows&)>& listed)>;

Result<int> follow(const Query& query, const std::vector<SelectedField>& chosen,
                   const PrintListed& print_listed);

}  // namespace ares::aacct
