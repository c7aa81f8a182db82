// The commands reset usage and rebuild-usage: clear recorded usage, or recompute it.
#include <cstdio>
#include <set>

#include "aacctmgr/command.h"
#include "aacctmgr/selection.h"
#include "base/printable.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "proto/accounts_convert.h"

namespace ares::aacctmgr {
namespace {

// The keys of the chosen records; for users, all their matching associations.
std::set<RecordKey> named(const Snapshot& snapshot, Entity entity, const Where& where) {
  std::set<RecordKey> keys;
  const auto add = [&](const auto& record) {
    if (chosen(where, record)) keys.insert(key_of(record));
  };
  switch (entity) {
    case Entity::account: each_of<Account>(snapshot.records, RecordKind::account, add); break;
    case Entity::qos: each_of<Qos>(snapshot.records, RecordKind::qos, add); break;
    case Entity::wckey: each_of<Wckey>(snapshot.records, RecordKind::wckey, add); break;
    default:
      each_chosen_association(snapshot.records, where,
                              [&](const Association& one) { keys.insert(key_of(one)); });
  }
  return keys;
}

Result<std::set<RecordKey>> asked_for(Context& context, const Words& operands) {
  const auto entity = find_entity(operands.front());
  if (!entity) return fail(entity.error());
  if (*entity != Entity::account && *entity != Entity::user && *entity != Entity::association &&
      *entity != Entity::qos && *entity != Entity::wckey)
    return invalid(
        "reset usage of accounts, users, associations, qos or wckeys; without any, of all");
  const auto line = parse_line(std::span(operands).subspan(1));
  if (!line) return fail(line.error());
  if (line->has_set) return invalid("reset usage sets nothing but usage: leave out set");
  const auto where = where_of(*entity, *line);
  if (!where) return fail(where.error());
  if (!where->has_conditions()) return invalid("reset usage of which " + name_of(*entity) + "?");
  const auto snapshot = context.records();
  if (!snapshot) return fail(snapshot.error());
  if (Status good = check_names(*snapshot, *where); !good) return fail(good.error());
  auto keys = named(*snapshot, *entity, *where);
  if (keys.empty()) return fail(ErrorCode::not_found, "no such record exists");
  return keys;
}

void print(const api::UsageRebuilt& found) {
  std::printf(
      "%llu sums recomputed from %llu attempts: ", static_cast<unsigned long long>(found.sums()),
      static_cast<unsigned long long>(found.attempts()));
  if (found.different() == 0) {
    std::puts("all stored sums are correct.");
    return;
  }
  std::printf("%llu differ.\n", static_cast<unsigned long long>(found.different()));
  for (const auto& one : found.differences())
    std::printf("%s, %s: %.3f stored, %.3f recomputed\n", printable(one.whose()).c_str(),
                printable(one.tres()).c_str(), one.kept(), one.reckoned());
  if (static_cast<std::uint64_t>(found.differences_size()) < found.different()) std::puts("...");
  if (found.corrected()) std::puts("Corrected.");
}

}  // namespace

Result<int> reset_usage(Context& context, const Words& operands) {
  if (operands.empty() || cli::lower(operands[0]) != "usage")
    return invalid("reset what? reset usage [ENTITY NAMES]");
  if (context.flags.check)
    return invalid("--check is for rebuild-usage; --dry-run shows what reset does");
  if (context.flags.read_only)
    return invalid("reset usage changes something, and --readonly is given");
  api::Request request;
  request.mutable_reset_usage();
  std::string whose = " of all";
  if (operands.size() > 1) {
    const auto keys = asked_for(context, Words(operands.begin() + 1, operands.end()));
    if (!keys) return fail(keys.error());
    whose = " of";
    for (const RecordKey& key : *keys) {
      proto::put(key, *request.mutable_reset_usage()->add_of());
      whose += "\n  " + printable(describe(key));
    }
  }
  if (!context.flags.quiet) std::printf("This sets to 0 the recorded usage%s\n", whose.c_str());
  if (context.flags.dry_run) return 0;
  const auto wanted = context.confirm();
  if (!wanted) return fail(wanted.error());
  if (!*wanted) {
    std::puts("Nothing was changed.");
    return cli::kExitRefused;
  }
  const auto done = context.call(std::move(request), cli::RetryPolicy::change);
  if (!done) return fail(done.error());
  return 0;
}

Result<int> rebuild_usage(Context& context, const Words& operands) {
  if (!operands.empty()) return invalid("rebuild-usage takes no words; --check only looks");
  const Flags& flags = context.flags;
  const bool check = flags.check || flags.dry_run || flags.read_only;
  if (!check && !flags.immediate) {
    if (!flags.document) std::puts("This recomputes usage from the records of attempts.");
    const auto wanted = context.confirm();
    if (!wanted) return fail(wanted.error());
    if (!*wanted) {
      std::puts("Nothing was changed.");
      return cli::kExitRefused;
    }
  }
  api::Request request;
  request.mutable_rebuild_usage()->set_check(check);
  const auto answer =
      context.call(std::move(request), check ? cli::RetryPolicy::query : cli::RetryPolicy::change);
  if (!answer) return fail(answer.error());
  const api::UsageRebuilt& found = answer->usage_rebuilt();
  if (flags.document)
    cli::print_document(flags.document, cli::to_json(found));
  else if (!flags.quiet)
    print(found);
  return check && found.different() > 0 ? cli::kExitRefused : 0;
}

}  // namespace ares::aacctmgr
