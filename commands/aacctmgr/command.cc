#include "aacctmgr/command.h"

#include <cstdio>

#include "aacctmgr/edit/expand.h"
#include "aacctmgr/show/fields.h"
#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::aacctmgr {
namespace {

Result<int> change_by(Context& context, Verb verb, const std::string& word, const Words& operands) {
  if (operands.empty()) return invalid(word + " what? account, user, qos, coordinator or wckey");
  const auto entity = find_entity(operands.front());
  if (!entity) return fail(entity.error());
  const auto line = parse_line(std::span(operands).subspan(1));
  if (!line) return fail(line.error());
  const auto edit = parse_edit(verb, *entity, *line);
  if (!edit) return fail(edit.error());
  const auto snapshot = context.records();
  if (!snapshot) return fail(snapshot.error());
  const auto after = expand(*snapshot, *edit);
  if (!after) return fail(after.error());
  return context.change(*snapshot, *after);
}

Result<int> help(Context&, const Words& operands) {
  const std::string word = cli::lower(cli::join(operands, " "));
  bool any = false;
  for (const Command& command : commands()) {
    const std::string& name = command.words.names.front();
    if (!name.starts_with(word)) continue;
    std::printf("%s%s%s\n    %s\n", name.c_str(), command.arguments.empty() ? "" : " ",
                command.arguments.c_str(), command.help.c_str());
    any = true;
  }
  if (!any) return invalid("no command begins with " + quote(word));
  if (operands.empty()) std::puts("exit, quit\n    Leave.");
  return 0;
}

Result<int> version(Context&, const Words& operands) {
  if (!operands.empty()) return invalid("version takes no argument");
  std::puts("aacctmgr " ARES_VERSION);
  return 0;
}

Command changing(Verb verb, Spelling words, std::string arguments, std::string help) {
  const std::string name = words.names.front();
  return {std::move(words), std::move(arguments), std::move(help),
          [verb, name](Context& context, const Words& operands) {
            return change_by(context, verb, name, operands);
          }};
}

std::vector<std::string> property_texts(RecordKind kind) {
  std::vector<std::string> texts;
  for (const Property& row : properties(kind))
    texts.push_back(row.name + "=" + row.argument + (row.list ? " (also += and -=)" : "") + ": " +
                    row.help + ".");
  return texts;
}

std::vector<std::string> with_intro(std::string intro, std::vector<std::string> texts) {
  texts.insert(texts.begin(), std::move(intro));
  return texts;
}

std::vector<std::string> limit_texts() {
  return {
      "Limits of TRES are written as cpu=100,mem=2T,gres/gpu=8,gres/gpu:a100=4. TRES are cpu, mem "
      "(MiB, or with K, M, G, T or P), node, billing, gres/gpu, gres/gpu:TYPE and license/NAME. A "
      "TRES that is not named keeps its limit; an amount of -1 removes it. An amount of 0 allows "
      "none.",
      "Times are minutes or [D-]HH:MM:SS. An empty value or -1 removes a limit, or all of a kind.",
      "A limit of an account holds for all below it together where its name begins with Grp, and "
      "for each user or job where it begins with Max; a limit that is not set at a user or account "
      "is inherited from the account above.",
      "With accounting: {enforce: limits} in ares.yaml(5) all of them are enforced, with "
      "{enforce: safe} also so that no limit on minutes is reached while a job runs."};
}

std::vector<std::string> selection_texts() {
  std::vector<std::string> texts = {
      "Records are chosen by NAME=VALUE, of which each may have several values with commas between "
      "them, and all must match; names directly after the entity are names of that entity, so that "
      "delete user ada,bob and delete user where name=ada,bob are the same. Words may be "
      "abbreviated as long as they are unique. Selectors:"};
  for (const EntityRow& row : entities()) {
    std::vector<std::string> words;
    for (const SelectorRow& selector : selectors(row.entity))
      words.push_back(selector.spelling.names.front());
    if (!words.empty())
      texts.push_back(row.spelling.names.front() + ": " + cli::join(words, ", ") + ".");
  }
  return texts;
}

std::vector<std::string> maintenance_texts() {
  return {
      "show transaction lists every change that is not about jobs, refused ones too, oldest first; "
      "start= and end= limit the time, user= the author, action= the kind of change (\"drain "
      "node\", or submit, cancel and others for changes of jobs, all for every change).",
      "show runawayjobs compares accounting with the records that the controller starts from. An "
      "attempt that is unfinished only in accounting would never end, and would be charged in "
      "every report. With the answer y, or with -i, it is set to CANCELLED at the last time that "
      "is known of it, the change is recorded as a transaction, and reports count it as ended at "
      "that time. Operators and administrators may do that. With --json or --readonly there is no "
      "question.",
      "rebuild-usage applies the current half-life and QOS flags; rates and QOS factors are those "
      "recorded when each attempt began. So sums differ for a while after the half-life was "
      "changed. The usage of a user that was removed from an account stays with the account. "
      "Operators and administrators may do that, and reset usage.",
      "archive dump writes all attempts that ended in a month (of UTC) to a file in archive.dir on "
      "the controller's machine and then removes them from the database; the controller does the "
      "same automatically for months as old as archive.after says. The sums that areport uses are "
      "kept; aacct does not list attempts that are only in files. archive load restores the "
      "attempts of a file, which stay until archive dump; attempts that are in the database "
      "already are not changed. Administrators may do both; see ares-backup(7)."};
}

std::vector<std::string> file_texts() {
  return {
      "dump writes, and load reads, YAML with three maps: qos and users by their names, and "
      "accounts, where each account holds its properties, a list users (entries user, "
      "partition and properties; a name alone is enough) and the accounts below it, from root "
      "down. Users have their defaults and wckeys.",
      "load makes each record that the file names equal to the file; a property that is left out "
      "gets its default. Records that it does not name are kept, unless clean is given. Up to "
      "5,000 changed records are sent in one request, which is applied completely or not at all; "
      "more are sent in several requests, each of which leaves consistent records. load can be "
      "repeated if one of them fails."};
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      changing(Verb::add, {{"add", "create"}}, "ENTITY NAMES [NAME=VALUE...]",
               "Add accounts (below root, or parent=ACCOUNT), users (to account=ACCOUNTS, if "
               "wanted for partition=PARTITIONS alone; the first account becomes the default of a "
               "new one), qos, wckeys (for user=USERS), or coordinators (of account=ACCOUNTS)."),
      changing(Verb::modify, {{"modify", "update"}}, "ENTITY where NAME=VALUE... set NAME=VALUE...",
               "Change accounts, users, associations, qos, or the cluster, which is the account "
               "root. Properties of users are set in all of their selected accounts."),
      changing(Verb::remove, {{"delete", "remove"}}, "ENTITY NAMES, or ENTITY where NAME=VALUE...",
               "Remove accounts with all that is below them, users (with account= only out of "
               "these accounts), associations, qos (also out of all lists and defaults), wckeys, "
               "or coordinators. It is refused if a user would lose the default account and keep "
               "others: "
               "give the user another default first."),
      {{{"show", "list"}},
       "ENTITY [NAMES] [where] [NAME=VALUE...] [format=FIELDS] [withassoc] [tree]",
       "List accounts, users, associations, qos, wckeys, coordinators, the cluster, or tres; "
       "problem: records that are probably mistakes; transaction: who changed what and when; "
       "runawayjobs: attempts that run in accounting but are unknown to the controller; asks "
       "whether to end them.",
       show},
      {{{"dump"}}, "[FILE]", "Write all records as YAML, to a file or standard output.", dump},
      {{{"load"}},
       "FILE|- [clean]",
       "Make the records equal to a file; with clean also remove records that it does not contain. "
       "With --dry-run only show what would change.",
       load},
      {{{"archive"}},
       "[show], dump [before=YYYY-MM], load FILE",
       "Archive files of old accounting: show lists them; dump moves whole months to files now, "
       "those that archive.after in ares.yaml selects or all before a month; load restores a file.",
       archive},
      {{{"reset"}},
       "usage [ENTITY NAMES]",
       "Set the recorded usage to 0, for fair share and for limits on minutes: of accounts with "
       "all below them, of users (in account=ACCOUNTS), associations, qos or wckeys; of all if "
       "none is named. Running jobs are charged for their time from now on.",
       reset_usage},
      {{{"rebuild-usage"}},
       "[--check]",
       "Recompute usage from the records of attempts and correct the stored sums; with --check, "
       "--dry-run or --readonly only list what differs, and exit with 1 if anything does.",
       rebuild_usage},
      {{{"version"}}, "", "The release of aacctmgr.", version},
      {{{"help"}}, "[COMMAND]", "The commands, or those that begin with a word.", help},
  };
  return all;
}

cli::OptionTable options(Context& context) {
  Flags& f = context.flags;
  cli::OptionTable table;
  table.options = {
      {'i', "immediate", "", "Do not ask before something is changed.", cli::set_flag(f.immediate)},
      {'n', "noheader", "", "With show: no header.", cli::set_flag(f.no_header)},
      {'P', "parsable2", "",
       "With show: fields with | between them, not cut; a | in a field is shown as ?.",
       cli::set_flag(f.parsable2)},
      {'p', "parsable", "", "The same, with a | behind the last.", cli::set_flag(f.parsable)},
      {'o', "format", "FIELDS", "With show: the fields, as format= does.", cli::set_text(f.format)},
      {'r', "readonly", "", "Refuse to change anything.", cli::set_flag(f.read_only)},
      {'t', "dry-run", "", "Only show what would change.", cli::set_flag(f.dry_run)},
      {0, "check", "", "With rebuild-usage: only say what differs.", cli::set_flag(f.check)},
      {'Q', "quiet", "", "Print only errors and what must be confirmed.", cli::set_flag(f.quiet)},
  };
  cli::add_document_options(table.options, f.document, "With show: all that is known, as JSON.");
  table.unsupported = {{'a', "allclusters", false},
                       {'s', "associations", false},
                       {'v', "verbose", false},
                       {0, "local", false},
                       {0, "autocomplete"}};
  cli::add_common_options(table, context.common);
  return table;
}

Result<int> dispatch(Context& context, const Words& words) {
  static const std::vector<Spelling> spellings = [] {
    std::vector<Spelling> all;
    for (const Command& command : commands()) all.push_back(command.words);
    return all;
  }();
  for (const char* other : {"clear", "ping", "reconfigure", "shutdown"})
    if (cli::lower(words[0]) == other)
      return invalid(std::string(other) +
                     " is not a command of aacctmgr; actl has ping, reconfigure "
                     "and shutdown");
  const auto found = match_word(words[0], spellings, "unknown command");
  if (!found) return fail(found.error());
  return commands()[*found].run(context, Words(words.begin() + 1, words.end()));
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "aacctmgr",
      .summary = "manage accounts, users, QOS and their limits",
      .synopsis = {"[OPTIONS] COMMAND ENTITY [ARGUMENTS]", "[OPTIONS]"},
      .description =
          {"aacctmgr shows and changes who may use the cluster, on whose account, and how much of "
           "it: accounts in a tree, users in accounts (associations), qualities of service and "
           "wckeys, with shares and limits. Changes take effect at once.",
           "Before a change it shows what would change, and asks. If another user has changed one "
           "of the records meanwhile, nothing is changed and the command fails.",
           "All users may list records. Operators and administrators, who are named in ares.yaml, "
           "may change everything; coordinators what is in and below their account, but they "
           "cannot give more QOS or priority than the account has; users their own defaults."},
      .sections = {{"Commands",
                    [] {
                      std::vector<std::string> texts;
                      for (const Command& command : commands())
                        texts.push_back(command.words.names.front() +
                                        (command.arguments.empty() ? "" : " " + command.arguments) +
                                        ": " + command.help);
                      return texts;
                    }()},
                   {"What is chosen", selection_texts()},
                   {"Properties of accounts",
                    with_intro("Of users in accounts, those from fairshare on.",
                               property_texts(RecordKind::account))},
                   {"Properties of users", property_texts(RecordKind::user)},
                   {"Properties of QOS", property_texts(RecordKind::qos)},
                   {"Limits", limit_texts()},
                   {"Fields", field_texts()},
                   {"Files", file_texts()},
                   {"Care of accounting", maintenance_texts()},
                   {"Interactive use",
                    {"Without a command aacctmgr reads commands, one a line, until the end of its "
                     "input, exit or quit. On a terminal lines can be edited and are remembered in "
                     "$XDG_STATE_HOME/ares/aacctmgr_history (~/.local/state), and the tabulator "
                     "completes commands, properties, and the names of accounts, users and QOS.",
                     "From a pipe or a file the first command that fails ends it: the message "
                     "names the line. Changes need -i there, because no question can be asked."}}},
      .examples = {{"aacctmgr add account physics parent=science fairshare=40 GrpTRES=gres/gpu=16",
                    "An account with a share and at most 16 GPUs at a time."},
                   {"aacctmgr add user ada,bob account=physics", "Two users in it."},
                   {"aacctmgr modify user where name=ada account=physics set qos+=high",
                    "One of them may use the QOS high there."},
                   {"aacctmgr show association tree format=Account%20,User,Share,QOS",
                    "The whole tree."},
                   {"aacctmgr show transactions start=now-7days user=ada",
                    "What ada changed in the last week."},
                   {"aacctmgr dump tree.yaml; aacctmgr load tree.yaml --dry-run",
                    "Save the records to a file, and show what an edited file would change."}},
      .see_also = {"ares-accounting(7)", "ares-backup(7)", "aacct(1)", "asub(1)", "ares.yaml(5)"}};
  return text;
}

}  // namespace ares::aacctmgr
