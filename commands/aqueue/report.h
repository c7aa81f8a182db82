// What aqueue makes of the jobs it reads: a listing, JSON, or sentences. Rows come page by page and are not kept.
// Owned by aqueue's main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aqueue/columns.h"
#include "aqueue/query.h"
#include "base/result.h"

namespace ares::aqueue {

class Report {
 public:
  virtual ~Report() = default;

  // What it reads of a job: numbers as in api::Table.fields.
  virtual std::vector<std::uint32_t> fields() const = 0;

  virtual void add(const Row& row) = 0;

  // What can be printed before the rest has come.
  virtual std::string ready() { return {}; }

  // Everything left. `last` is the last page; `moved`: the pages show different states.
  virtual std::string finish(const api::Jobs& last, bool moved) = 0;
};

// The tiers of partitions, by name.
using Tiers = std::map<std::string, std::int64_t, std::less<>>;

// Why one record waits; the controller's answer.
using Explain = std::function<Result<api::Explanation>(const api::JobRef&)>;

// What the query asks for. `terminal` is the width of standard output's; 0 = it is none. `tiers` are needed by each_partition only,
// `explain` by --why.
// invalid_argument: a wrong format or order.
Result<std::unique_ptr<Report>> make_report(const Query& query, unsigned terminal, Tiers tiers = {},
                                            Explain explain = {});

Result<std::unique_ptr<Report>> make_listing_report(const Query& query, unsigned terminal,
                                                    Tiers tiers);
std::unique_ptr<Report> make_json_report();
std::unique_ptr<Report> make_why_report(unsigned terminal, Explain explain);
std::unique_ptr<Report> make_why_json_report(Explain explain);

// Every field of a job, each of its specification's by itself.
std::vector<std::uint32_t> every_field();

// Adds every row of an answer. data_loss: it is damaged.
Status add_rows(const api::Jobs& page, Report& report);

}  // namespace ares::aqueue
