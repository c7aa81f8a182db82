// `aacctmgr show`.
#include <cstdio>

#include "aacctmgr/command.h"
#include "aacctmgr/show/maintenance.h"
#include "aacctmgr/show/rows.h"
#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::aacctmgr {
namespace {

// Words that control the listing, separated from the words that choose records.
struct Switches {
  ListingOptions listing;
  std::string format;
  Words rest;
};

Result<Switches> take_switches(const Words& operands) {
  Switches switches;
  switches.listing.knows_user = is_user_known;
  for (const std::string& word : operands) {
    const std::string plain = cli::lower(word);
    if (plain == "withassoc" || plain == "withassocs" || plain == "assoc") {
      switches.listing.with_associations = true;
    } else if (plain == "withcoordinator" || plain == "withcoordinators" || plain == "withcoord") {
      switches.listing.with_coordinators = true;
    } else if (plain == "tree") {
      switches.listing.tree = true;
    } else if (plain.starts_with("format=")) {
      switches.format = word.substr(7);
    } else if (plain == "withdeleted" || plain == "withrawqoslevel" || plain == "wopinfo" ||
               plain == "woplimits" || plain == "onlydefaults" || plain == "withsubaccounts") {
      return invalid(excerpt(word) + " is not supported yet");
    } else {
      switches.rest.push_back(word);
    }
  }
  return switches;
}

std::string format_of(const Context& context, Entity entity, const Switches& switches) {
  if (!switches.format.empty()) return switches.format;
  if (!context.flags.format.empty()) return context.flags.format;
  std::string format = usual_fields(entity, switches.listing.with_associations);
  if (switches.listing.with_coordinators) format += ",Coordinators";
  return format;
}

}  // namespace

Result<int> show(Context& context, const Words& operands) {
  if (operands.empty())
    return invalid(
        "show what? account, user, association, qos, wckey, coordinator, cluster, tres, "
        "problem, transaction or runawayjobs");
  const auto entity = find_entity(operands.front());
  if (!entity) return fail(entity.error());
  const auto switches = take_switches(Words(operands.begin() + 1, operands.end()));
  if (!switches) return fail(switches.error());
  const auto line = parse_line(switches->rest);
  if (!line) return fail(line.error());
  if (line->has_set) return invalid("show takes no set; modify changes records");
  const auto where = where_of(*entity, *line);
  if (!where) return fail(where.error());
  const auto chosen = parse_fields(format_of(context, *entity, *switches));
  if (!chosen) return fail(chosen.error());

  if (*entity == Entity::transaction) return show_transactions(context, *where, *chosen);
  if (*entity == Entity::runaway_jobs) return show_runaways(context, *chosen);
  const auto snapshot = context.records();
  if (!snapshot) return fail(snapshot.error());
  if (Status ok = check_names(*snapshot, *where); !ok) return fail(ok.error());
  const Rows rows = rows_of(*snapshot, *entity, *where, switches->listing);
  const std::string text =
      context.flags.document
          ? cli::in_form(context.flags.document, json_of(*snapshot, rows))
          : print(rows.rows, *chosen,
                  {context.flags.no_header, context.flags.parsable, context.flags.parsable2});
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace ares::aacctmgr
