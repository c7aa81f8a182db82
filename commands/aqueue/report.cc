#include "aqueue/report.h"

#include <array>

#include "cli/json.h"
#include "cli/sorting.h"
#include "proto/table.h"

namespace ares::aqueue {
namespace {

class ListingReport final : public Report {
 public:
  ListingReport(cli::Listing<Row> listing, std::vector<cli::SortTerm<Row>> terms, bool header,
                bool by_id, unsigned terminal)
      : listing_(std::move(listing)),
        terms_(terms),
        sorter_(std::move(terms)),
        header_(header),
        streams_(by_id && listing_.grid().has_fixed_widths()),
        terminal_(terminal) {}

  std::vector<std::uint32_t> fields() const override {
    std::vector<std::uint32_t> all;
    for (const auto* column : listing_.columns()) cli::add_needs(*column, all);
    for (const auto& term : terms_) cli::add_needs(*term.column, all);
    // Rows without any field could not be told from an answer without a table.
    if (all.empty()) all.push_back(api::Job::kOwnIdFieldNumber);
    return all;
  }

  void add(const Row& row) override {
    listing_.add(row);
    if (!streams_) sorter_.add(row);
  }

  std::string ready() override {
    if (!streams_) return {};
    std::string text = listing_.grid().layout(header_);
    header_ = false;
    listing_.grid().clear();
    return text;
  }

  std::string finish(const api::Jobs&, bool) override {
    if (streams_) return ready();
    const auto order = sorter_.order();
    return listing_.grid().layout(header_, order, terminal_);
  }

 private:
  cli::Listing<Row> listing_;
  std::vector<cli::SortTerm<Row>> terms_;
  cli::Sorter<Row> sorter_;
  bool header_;
  const bool streams_;
  const unsigned terminal_;
};

// {"jobs": [{…}, …], "now": …, …}: the jobs as they come.
class JsonReport final : public Report {
 public:
  std::vector<std::uint32_t> fields() const override { return every_field(); }
  void add(const Row& row) override {
    out_ += first_ ? "{\n  \"jobs\": [\n    " : ",\n    ";
    first_ = false;
    cli::put_json(row.job, 2, out_);
  }
  std::string ready() override { return std::exchange(out_, {}); }
  std::string finish(const api::Jobs& last, bool moved) override {
    out_ += first_ ? "{\n  \"jobs\": []" : "\n  ]";
    out_ += ",\n  \"now\": " + std::to_string(last.now());
    out_ += ",\n  \"lsn\": " + std::to_string(last.lsn());
    out_ += ",\n  \"cluster\": ";
    cli::put_json_text(last.cluster(), out_);
    out_ += std::string(",\n  \"moved\": ") + (moved ? "true" : "false") + "\n}\n";
    return ready();
  }

 private:
  std::string out_;
  bool first_ = true;
};

}  // namespace

Result<std::unique_ptr<Report>> make_listing_report(const Query& query, unsigned terminal) {
  auto pieces = format_of(query);
  if (!pieces) return fail(pieces.error());
  auto listing = cli::Listing<Row>::make(std::move(*pieces), columns());
  if (!listing) return fail(listing.error());
  const std::string sort = sort_of(query);
  auto terms = cli::parse_sort<Row>(sort, columns());
  if (!terms) return fail(terms.error());
  const bool by_id = terms->empty() || sort == "i";  // the order in which they come
  return std::make_unique<ListingReport>(std::move(*listing), std::move(*terms),
                                         !query.listing.no_header, by_id,
                                         query.listing.has_own_format() ? 0 : terminal);
}

std::vector<std::uint32_t> every_field() {
  constexpr std::array<int, 2> kOpened = {api::Job::kKeyFieldNumber, api::Job::kSpecFieldNumber};
  return proto::all_fields(*api::Job::descriptor(), kOpened);
}

std::unique_ptr<Report> make_json_report() {
  return std::make_unique<JsonReport>();
}

Result<std::unique_ptr<Report>> make_report(const Query& query, unsigned terminal) {
  // A wrong format is told whatever else is asked for.
  auto listing = make_listing_report(query, terminal);
  if (!listing) return listing;
  if (query.listing.json) return make_json_report();
  if (query.why) return make_why_report(terminal);
  return listing;
}

Status add_rows(const api::Jobs& page, Report& report) {
  const Time now{Duration(page.now())};
  return proto::read_rows(page.jobs(), page.table(), [&](const api::Job& job) {
    report.add({job, now, page.cluster()});
  });
}

}  // namespace ares::aqueue
