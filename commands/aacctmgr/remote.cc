// Reads and changes the controller's records.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "aacctmgr/command.h"
#include "aacctmgr/edit/preview.h"
#include "cli/output/text.h"
#include "os/users.h"
#include "proto/accounts_convert.h"

namespace ares::aacctmgr {
namespace {

api::AccountingChange::Verb verb_of(Change::Verb verb) {
  switch (verb) {
    case Change::Verb::add: return api::AccountingChange::ADD;
    case Change::Verb::modify: return api::AccountingChange::MODIFY;
    case Change::Verb::remove: return api::AccountingChange::REMOVE;
  }
  return api::AccountingChange::ADD;
}

Error explain(Error error) {
  if (error.message.find("changed meanwhile") != std::string::npos)
    error.message += " (nothing of this was done; the same command begins from what is there now)";
  return error;
}

// They may be known to the nodes alone, or misspelt.
void warn_of_unknown_users(const std::vector<Change>& changes) {
  constexpr std::size_t kNamed = 10;
  std::string names;
  std::size_t count = 0;
  for (const Change& change : changes) {
    if (change.verb != Change::Verb::add || change.key.kind != RecordKind::user) continue;
    const std::string& name = std::get<User>(*change.after).name;
    if (is_user_known(name)) continue;
    if (++count <= kNamed) names += (names.empty() ? "" : ", ") + name;
  }
  if (count == 0) return;
  std::fprintf(
      stderr, "aacctmgr: warning: this machine does not know %s%s\n", names.c_str(),
      count > kNamed ? (" and " + std::to_string(count - kNamed) + " other users").c_str() : "");
}

}  // namespace

bool is_user_known(const std::string& name) {
  const auto found = os::find_user(name);
  return found || found.error().code != ErrorCode::not_found;
}

Result<api::Response> Context::call(api::Request request, cli::RetryPolicy policy) {
  if (!client_) {
    auto opened = cli::open_client("aacctmgr", common, policy, flags.quiet);
    if (!opened) return fail(opened.error());
    client_.emplace(std::move(*opened));
  }
  return client_->call(std::move(request), policy == cli::RetryPolicy::none
                                               ? rpc::Retry::never
                                               : rpc::Retry::unavailable);
}

Result<Snapshot> Context::records(cli::RetryPolicy policy) {
  Snapshot snapshot;
  api::Request request;
  request.mutable_list_account_records();
  for (;;) {
    request.clear_request_id();
    const auto response = call(request, policy);
    if (!response) return fail(response.error());
    const api::AccountRecords& page = response->account_records();
    proto::DecodeErrors errors;
    for (const accounts::Record& one : page.records()) {
      AccountingRecord record = proto::get(one, errors);
      if (!errors.empty())
        return fail(ErrorCode::invalid_argument,
                    "the controller is of a newer release than aacctmgr: " + errors.text());
      const RecordKey key = key_of(record);
      snapshot.records.set(key, std::move(record));
    }
    snapshot.cluster = page.cluster();
    snapshot.enforce = page.enforce();
    if (!page.has_next()) break;
    *request.mutable_list_account_records()->mutable_after() = page.next();
  }
  add_roots(snapshot.records);
  return snapshot;
}

Result<bool> Context::confirm() {
  if (flags.immediate) return true;
  if (script)
    return fail(ErrorCode::invalid_argument,
                "no question can be asked while commands come from a file: add -i");
  std::printf("Do it? [y/N] ");
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  if (isatty(STDIN_FILENO) == 0) std::puts("");
  const std::string word = cli::lower(cli::trim(answer));
  return word == "y" || word == "yes";
}

Status Context::send(const std::vector<Change>& changes) {
  api::Request request;
  api::ChangeAccounting& body = *request.mutable_change_accounting();
  for (const Change& change : changes) {
    api::AccountingChange& one = *body.add_changes();
    one.set_verb(verb_of(change.verb));
    const AccountingRecord& record = change.after ? *change.after : *change.before;
    proto::put(record, *one.mutable_record());
    one.mutable_record()->set_changed(change.before ? changed_at(*change.before).value() : 0);
  }
  const auto response = call(std::move(request), cli::RetryPolicy::change);
  if (!response) return fail(explain(response.error()));
  return {};
}

// Each request is applied completely or not at all. If one of several fails, the earlier ones stay
// applied.
Status Context::send_in_parts(std::vector<Change> changes, const Records& after,
                              std::size_t& done) {
  for (const auto& part : in_requests(std::move(changes), after)) {
    if (Status sent = send(part); !sent) {
      Error error = sent.error();
      if (done > 0)
        error.message += "; " + std::to_string(done) +
                         " records before it are changed: repeat the command for the rest";
      return fail(std::move(error));
    }
    done += part.size();
  }
  return {};
}

Status Context::send_all(const Snapshot& before, const Records& after) {
  std::vector<Change> changes = changes_between(before.records, after);
  if (changes.size() <= kMostInRequest) return send(changes);
  const Records first = first_round(before.records, after);
  const bool again = !changes_between(first, after).empty();
  std::size_t done = 0;
  if (Status sent = send_in_parts(changes_between(before.records, first), first, done); !sent)
    return sent;
  if (!again) return {};
  const auto now = records(cli::RetryPolicy::change);
  if (!now) return fail(now.error());
  const Records target = second_round(before.records, after, now->records);
  return send_in_parts(changes_between(now->records, target), target, done);
}

Result<int> Context::change(const Snapshot& before, const Records& after) {
  const std::vector<Change> changes = changes_between(before.records, after);
  if (changes.empty()) {
    if (!flags.quiet) std::puts("Nothing changes.");
    return 0;
  }
  if (!flags.quiet || (!flags.immediate && !flags.dry_run))
    std::printf("%s", preview(changes).c_str());
  warn_of_unknown_users(changes);
  if (flags.dry_run) {
    if (!flags.quiet) std::printf("Would be: %s\n", count_text(changes).c_str());
    return 0;
  }
  if (flags.read_only)
    return fail(ErrorCode::invalid_argument, "nothing was changed: --readonly was given");
  const auto wanted = confirm();
  if (!wanted) return fail(wanted.error());
  if (!*wanted) {
    std::puts("Nothing was changed.");
    return cli::kExitRefused;
  }
  if (Status sent = send_all(before, after); !sent) return fail(sent.error());
  if (!flags.quiet) std::printf("Done: %s\n", count_text(changes).c_str());
  return 0;
}

}  // namespace ares::aacctmgr
