// The output of aqueue: a listing, JSON or YAML, or explanations. Rows arrive page by page and are not
// kept. Owned by aqueue's main thread.
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

  // The fields of a job that it reads, as in api::Table.fields.
  virtual std::vector<std::uint32_t> fields() const = 0;

  virtual void add(const Row& row) = 0;

  // Output that can be printed before the remaining rows arrive.
  virtual std::string ready() { return {}; }

  // The lines of the rows that were added since the last call, below a header at the first one: for rows that go on
  // arriving. Empty for reports that cannot be continued.
  virtual std::string lines() { return {}; }
  // The texts of a row's columns as they are without the time that passes: a row is shown again if they differ.
  virtual std::string texts(const Row&) const { return {}; }

  // The remaining output. `last` is the last page; `moved`: the pages show different states.
  virtual std::string finish(const api::Jobs& last, bool moved) = 0;
};

// The tiers of partitions, by name.
using Tiers = std::map<std::string, std::int64_t, std::less<>>;

// Requests the explanation of one waiting record from the controller.
using Explain = std::function<Result<api::Explanation>(const api::JobRef&)>;

// Creates the report for the query. `terminal` is the width of standard output's terminal, 0 if
// there is none. Only each_partition needs `tiers`, only --why needs `explain`. Returns
// invalid_argument for a wrong format or order.
Result<std::unique_ptr<Report>> make_report(const Query& query, unsigned terminal, Tiers tiers = {},
                                            Explain explain = {});

Result<std::unique_ptr<Report>> make_listing_report(const Query& query, unsigned terminal,
                                                    Tiers tiers);
std::unique_ptr<Report> make_json_report(const cli::Document& form);
std::unique_ptr<Report> make_json_lines_report();
std::unique_ptr<Report> make_why_report(unsigned terminal, Explain explain);
std::unique_ptr<Report> make_why_json_report(Explain explain, const cli::Document& form);

// All fields of a job, with the fields of its specification listed separately.
std::vector<std::uint32_t> every_field();

// Adds all rows of a response. Returns data_loss if the response is damaged.
Status add_rows(const api::Jobs& page, Report& report);

}  // namespace ares::aqueue
