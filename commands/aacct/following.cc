#include "aacct/following.h"

#include <cstdio>
#include <unordered_set>
#include <utility>

#include "base/printable.h"
#include "cli/options/follower.h"
#include "cli/output/json.h"

namespace ares::aacct {
namespace {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// One object on each line.
class JsonLines final : public Printer {
 public:
  explicit JsonLines(const Query& query) : query_(query) {}
  void page(const api::AccountingRows& rows) override {
    each_shown(query_, rows, [](const api::AccountingRow& row) {
      std::string json;
      cli::put_job_json(row, row.own_id(), 0, json);
      print(cli::on_one_line(json) + "\n");
    });
  }
  void finish() override {}

 private:
  const Query& query_;
};

// Names the row of one end of an attempt.
std::string name_of(const api::AccountingRow& row) {
  return std::to_string(row.key().job()) + "_" +
         (row.key().has_task() ? std::to_string(row.key().task()) : "") + "." +
         std::to_string(row.attempt()) + "@" + std::to_string(row.ended());
}

void say(const std::string& text) {
  std::fprintf(stderr, "aacct: %s\n", printable(text, kLineControls).c_str());
}

class Following {
 public:
  Following(const Query& query, rpc::Client& client, Printer& printer, const PrintListed& listed)
      : query_(query), client_(client), printer_(printer), print_listed_(listed) {}

  // At each connection.
  api::Watch request() {
    begins_ = true;
    api::Watch watch;
    *watch.mutable_accounting() = query_.filter;
    watch.set_after(told_);
    return watch;
  }

  // The stream begins before the listing is read, so that no end is missed between the two; what both have was printed.
  Status take(api::Watched part) {
    const bool missed = part.first() && !std::exchange(begins_, false);
    if (missed) {
      say("the journal of the controller does not reach back to the last row (retention.journal): "
          "all rows are listed again");
      known_.clear();
      listed_ = false;
    }
    if (!listed_) {
      listed_ = true;
      const auto remember = [&](const api::AccountingRows& page) {
        for (const api::AccountingRow& row : page.rows())
          if (row.ended() != 0) known_.insert(std::hash<std::string>()(name_of(row)));
      };
      if (Status printed = print_listed_(client_, printer_, remember); !printed) return printed;
    }
    api::AccountingRows fresh;
    fresh.set_now(part.accounting().now());
    fresh.set_cluster(part.accounting().cluster());
    for (api::AccountingRow& row : *part.mutable_accounting()->mutable_rows())
      if (!known_.contains(std::hash<std::string>()(name_of(row)))) fresh.add_rows()->Swap(&row);
    if (!fresh.rows().empty()) printer_.page(fresh);
    told_ = part.lsn();
    return {};
  }

 private:
  const Query& query_;
  rpc::Client& client_;
  Printer& printer_;
  const PrintListed& print_listed_;
  bool begins_ = true;  // the connection has brought nothing yet
  bool listed_ = false;
  std::uint64_t told_ = 0;  // rows of ends up to this change were printed
  std::unordered_set<std::size_t> known_;
};

}  // namespace

Result<int> follow(const Query& query, const std::vector<SelectedField>& chosen,
                   const PrintListed& print_listed) {
  cli::Follower follower;
  auto options = cli::client_options("aacct", query.common, cli::RetryPolicy::query);
  if (!options) return fail(options.error());
  auto client = rpc::Client::open(*options);
  if (!client) return fail(client.error());
  std::unique_ptr<Printer> printer;
  if (query.document.form == cli::DocumentForm::json)
    printer = std::make_unique<JsonLines>(query);
  else
    printer = make_printer(query, chosen, cli::terminal_width(), print);
  Following following(query, *client, *printer, print_listed);
  cli::Follower::Callbacks callbacks;
  callbacks.request = [&] { return following.request(); };
  callbacks.take = [&](api::Watched part) { return following.take(std::move(part)); };
  callbacks.settle = [] { std::fflush(stdout); };
  callbacks.tell = say;
  return follower.run(*options, callbacks);
}

}  // namespace ares::aacct
