#include "aqueue/report.h"

#include <array>
#include <set>
#include <utility>

#include "aqueue/cells.h"
#include "cli/output/index_list.h"
#include "cli/output/json.h"
#include "cli/output/sorting.h"
#include "cli/output/text.h"
#include "proto/table.h"

namespace ares::aqueue {
namespace {

class ListingReport final : public Report {
 public:
  ListingReport(cli::Listing<Row> listing, std::vector<cli::SortTerm<Row>> terms, bool header,
                bool by_id, unsigned terminal, std::size_t longest_list)
      : listing_(std::move(listing)),
        terms_(terms),
        sorter_(std::move(terms)),
        header_(header),
        streams_(by_id && listing_.grid().has_fixed_widths()),
        terminal_(terminal),
        longest_list_(longest_list) {}

  // A job that waits for several partitions gets one row for each, or for each of `wanted`.
  void split_by_partition(Tiers tiers, std::set<std::string, std::less<>> wanted) {
    by_partition_ = true;
    tiers_ = std::move(tiers);
    wanted_ = std::move(wanted);
  }

  std::vector<std::uint32_t> fields() const override {
    std::vector<std::uint32_t> all;
    if (by_partition_) all = {J::kPartitionFieldNumber, J::kStateFieldNumber};
    for (const auto* column : listing_.columns()) cli::add_needs(*column, all);
    for (const auto& term : terms_) cli::add_needs(*term.column, all);
    // Rows without fields could not be distinguished from a response without a table.
    if (all.empty()) all.push_back(api::Job::kOwnIdFieldNumber);
    return all;
  }

  void add(const Row& row) override {
    if (!by_partition_) return add_line({row.job, row.now, row.cluster, row.tier, longest_list_});
    const std::vector<std::string> names = cli::split(row.job.partition(), ',');
    if (names.size() < 2 || state_of(row.job) != JobState::pending)
      return add_line({row.job, row.now, row.cluster, tier(row.job.partition()), longest_list_});
    api::Job one = row.job;
    for (const std::string& name : names) {
      if (!wanted_.empty() && !wanted_.contains(name)) continue;
      one.set_partition(name);
      add_line({one, row.now, row.cluster, tier(name), longest_list_});
    }
  }

  std::string ready() override {
    if (!streams_) return {};
    std::string text = listing_.grid().layout(header_);
    header_ = false;
    listing_.grid().clear();
    return text;
  }

  std::string lines() override {
    const auto order = sorter_.order();
    std::string text = streams_ ? listing_.grid().layout(header_)
                                : listing_.grid().layout(header_, order, terminal_);
    listing_.grid().clear_and_keep_widths(header_);
    header_ = false;
    sorter_ = cli::Sorter<Row>(terms_);
    return text;
  }

  std::string texts(const Row& row) const override {
    std::string all;
    for (const auto* column : listing_.columns()) {
      column->put({row.job, Time{}, row.cluster, row.tier, longest_list_}, all);
      all += '\x1f';
    }
    return all;
  }

  std::string finish(const api::Jobs&, bool) override {
    if (streams_) return ready();
    const auto order = sorter_.order();
    return listing_.grid().layout(header_, order, terminal_);
  }

 private:
  using J = api::Job;

  void add_line(const Row& row) {
    listing_.add(row);
    if (!streams_) sorter_.add(row);
  }

  std::int64_t tier(const std::string& partition) const {
    const auto found = tiers_.find(partition);
    return found == tiers_.end() ? 0 : found->second;
  }

  cli::Listing<Row> listing_;
  std::vector<cli::SortTerm<Row>> terms_;
  cli::Sorter<Row> sorter_;
  bool header_;
  const bool streams_;
  const unsigned terminal_;
  const std::size_t longest_list_;
  bool by_partition_ = false;
  Tiers tiers_;
  std::set<std::string, std::less<>> wanted_;
};

std::string json_end(const api::Jobs& last, bool moved, bool empty) {
  std::string out = empty ? "{\n  \"jobs\": []" : "\n  ]";
  out += ",\n  \"now\": " + std::to_string(last.now());
  out += ",\n  \"lsn\": " + std::to_string(last.lsn());
  out += ",\n  \"cluster\": ";
  cli::put_json_text(last.cluster(), out);
  return out + ",\n  \"moved\": " + (moved ? "true" : "false") +
         ",\n  \"meta\": " + cli::json_meta("aqueue") + "\n}\n";
}

// {"jobs": [{…}, …], "now": …, …}: jobs in the order of the response.
class JsonReport final : public Report {
 public:
  explicit JsonReport(const cli::Document& form) : parts_(form) {}
  std::vector<std::uint32_t> fields() const override { return every_field(); }
  void add(const Row& row) override {
    out_ += first_ ? "{\n  \"jobs\": [\n    " : ",\n    ";
    first_ = false;
    cli::put_job_json(row.job, row.job.own_id(), 2, out_);
  }
  std::string ready() override { return parts_.put(std::exchange(out_, {})); }
  std::string finish(const api::Jobs& last, bool moved) override {
    out_ += json_end(last, moved, first_);
    const std::string text = ready();
    return text + parts_.finish();
  }

 private:
  cli::DocumentParts parts_;
  std::string out_;
  bool first_ = true;
};

// One object on each line.
class JsonLinesReport final : public Report {
 public:
  std::vector<std::uint32_t> fields() const override { return every_field(); }
  void add(const Row& row) override { out_ += texts(row) + "\n"; }
  std::string lines() override { return std::exchange(out_, {}); }
  std::string texts(const Row& row) const override {
    std::string json;
    cli::put_job_json(row.job, row.job.own_id(), 0, json);
    return cli::on_one_line(json);
  }
  std::string finish(const api::Jobs&, bool) override { return lines(); }

 private:
  std::string out_;
};

// The same with an explanation per job, which contains the job.
class WhyJsonReport final : public Report {
 public:
  WhyJsonReport(Explain explain, const cli::Document& form)
      : explain_(std::move(explain)), parts_(form) {}
  std::vector<std::uint32_t> fields() const override { return every_field(); }
  void add(const Row& row) override {
    api::Explanation explanation;
    if (state_of(row.job) == JobState::pending)
      if (auto answer = explain_(row.job.key())) explanation = std::move(*answer);
    *explanation.mutable_job() = row.job;
    out_ += first_ ? "{\n  \"jobs\": [\n    " : ",\n    ";
    first_ = false;
    cli::put_json(explanation, 2, out_);
  }
  std::string ready() override { return parts_.put(std::exchange(out_, {})); }
  std::string finish(const api::Jobs& last, bool moved) override {
    out_ += json_end(last, moved, first_);
    const std::string text = ready();
    return text + parts_.finish();
  }

 private:
  const Explain explain_;
  cli::DocumentParts parts_;
  std::string out_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Report> make_why_json_report(Explain explain, const cli::Document& form) {
  return std::make_unique<WhyJsonReport>(std::move(explain), form);
}

Result<std::unique_ptr<Report>> make_listing_report(const Query& query, unsigned terminal,
                                                    Tiers tiers) {
  auto format_items = format_of(query);
  if (!format_items) return fail(format_items.error());
  auto listing = cli::Listing<Row>::make(std::move(*format_items), columns());
  if (!listing) return fail(listing.error());
  listing->grid().colour_states(cli::colours_on(query.listing.colour));
  const auto longest = cli::longest_index_list();
  if (!longest) return fail(longest.error());
  const std::string sort = sort_of(query);
  auto terms = cli::parse_sort<Row>(sort, columns());
  if (!terms) return fail(terms.error());
  const bool by_id = terms->empty() || sort == "i";  // The order of the response.
  auto report = std::make_unique<ListingReport>(
      std::move(*listing), std::move(*terms), !query.listing.no_header, by_id,
      query.listing.has_own_format() ? 0 : terminal, *longest);
  if (query.each_partition)
    report->split_by_partition(
        std::move(tiers), {query.filter.partitions().begin(), query.filter.partitions().end()});
  return report;
}

std::vector<std::uint32_t> every_field() {
  constexpr std::array<int, 2> kOpened = {api::Job::kKeyFieldNumber, api::Job::kSpecFieldNumber};
  return proto::all_fields(*api::Job::descriptor(), kOpened);
}

std::unique_ptr<Report> make_json_lines_report() {
  return std::make_unique<JsonLinesReport>();
}

std::unique_ptr<Report> make_json_report(const cli::Document& form) {
  return std::make_unique<JsonReport>(form);
}

Result<std::unique_ptr<Report>> make_report(const Query& query, unsigned terminal, Tiers tiers,
                                            Explain explain) {
  // Report a wrong format even if other output is requested.
  auto listing = make_listing_report(query, terminal, std::move(tiers));
  if (!listing) return listing;
  if (query.why && query.listing.document)
    return make_why_json_report(std::move(explain), query.listing.document);
  if (query.listing.document) return make_json_report(query.listing.document);
  if (query.why) return make_why_report(terminal, std::move(explain));
  return listing;
}

Status add_rows(const api::Jobs& page, Report& report) {
  const Time now{Duration(page.now())};
  return proto::read_rows(page.jobs(), page.table(), [&](const api::Job& job) {
    report.add({job, now, page.cluster()});
  });
}

}  // namespace ares::aqueue
