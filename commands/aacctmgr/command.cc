#include "aacctmgr/command.h"

#include <cstdio>

#include "aacctmgr/edit/expand.h"
#include "aacctmgr/show/fields.h"
#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::aacctmgr {
namespace {

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

Result<int> change_by(Context& context, Verb verb, const std::string& word, const Words& operands) {
  if (operands.empty()) return bad(word + " what? account, user, qos, coordinator or wckey");
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
  if (!any) return bad("no command begins with " + quote(word));
  if (operands.empty()) std::puts("exit, quit\n    Leave.");
  return 0;
}

Result<int> version(Context&, const Words& operands) {
  if (!operands.empty()) return bad("version takes no argument");
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
      "TRES that is not named keeps its limit; an amount of -1 takes it away. An amount of 0 lets "
      "nothing through.",
      "Times are minutes or [D-]HH:MM:SS. An empty value or -1 takes a limit, or all of a kind, "
      "away.",
      "A limit of an account holds for all below it together where its name begins with Grp, and "
      "for each user or job where it begins with Max; what is not set at a user or account is that "
      "of the account above.",
      "With accounting: {enforce: limits} in ares.yaml(5) jobs are held to all of them, with "
      "{enforce: safe} also so that no limit on minutes is reached while a job runs."};
}

std::vector<std::string> selection_texts() {
  std::vector<std::string> texts = {
      "Records are chosen by NAME=VALUE, of which each may have several values with commas between "
      "them, and all have to hold; names right behind the entity are its own, so that delete user "
      "ada,bob and delete user where name=ada,bob are the same. Words may be shortened as long as "
      "they are no others'. Chosen by:"};
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
      "start= and end= say from when to when, user= by whom, action= which (\"drain node\", or "
      "submit, cancel and others of jobs; all for really everything).",
      "show runawayjobs compares accounting with the records that the controller starts from. What "
      "only accounting has as unfinished never ends by itself, and is charged for in every report. "
      "With an answer of y, or -i, it is set CANCELLED as of its last time that is known, the "
      "change is noted among the transactions, and reports count it from then on as ended there. "
      "Operators and administrators may do that. With --json or --readonly nobody is asked.",
      "rebuild-usage counts with the half-life and the QOS flags as they are now; rates and QOS "
      "factors are those that were noted when each attempt began. So sums differ for a while after "
      "the half-life was changed. Whoever was removed from an account leaves his usage to it. "
      "Operators and administrators may do that, and reset usage.",
      "archive dump writes all attempts that ended in a month (of UTC) to a file in archive.dir on "
      "the controller's machine and then takes them out of the database; the controller does the "
      "same by itself for months as old as archive.after says. Sums that areport goes by stay; "
      "aacct does not list what is in files only. archive load brings a file's attempts back, "
      "where they stay until archive dump; those that are there already are left as they are. "
      "Administrators may do both; ares-backup(7) has more."};
}

std::vector<std::string> file_texts() {
  return {
      "dump writes, and load reads, YAML with three maps: qos and users by their names, and "
      "accounts, where each account holds its properties, a list users (entries user, "
      "partition and properties; a name alone will do) and again accounts below it, from root "
      "down. Users have their defaults and wckeys.",
      "load makes each record that the file names exactly as it is there, so that a property "
      "which is left out gets its usual value; records that it does not name stay, unless "
      "clean is given. Up to 5,000 changed records go in one request, which is done whole or "
      "not at all; more go in several, so ordered that each leaves everything in order, and "
      "load can be repeated if one of them fails."};
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
               "root. What is set of users is set in all their accounts that are chosen."),
      changing(Verb::remove, {{"delete", "remove"}}, "ENTITY NAMES, or ENTITY where NAME=VALUE...",
               "Remove accounts with all that is below them, users (with account= only out of "
               "these accounts), associations, qos (also out of all lists and defaults), wckeys, "
               "or coordinators. Who loses his default account gets the first of those he still "
               "has."),
      {{{"show", "list"}},
       "ENTITY [NAMES] [where] [NAME=VALUE...] [format=FIELDS] [withassoc] [tree]",
       "List accounts, users, associations, qos, wckeys, coordinators, the cluster, or tres; "
       "problem: what was probably not meant; transaction: who changed what and when; "
       "runawayjobs: what accounting has as running though the controller knows nothing of it, "
       "and asks whether it is to be set ended.",
       show},
      {{{"dump"}}, "[FILE]", "Write all records as YAML, to a file or standard output.", dump},
      {{{"load"}},
       "FILE|- [clean]",
       "Make the records what a file says; with clean also remove those it does not have. With "
       "--dry-run only show what would change.",
       load},
      {{{"archive"}},
       "[show], dump [before=YYYY-MM], load FILE",
       "Old accounting in files: which there are; moves whole months to files now, those that "
       "archive.after in ares.yaml says or all before a month; or loads a file back.",
       archive},
      {{{"reset"}},
       "usage [ENTITY NAMES]",
       "What was used so far counts no more, for fair share as for limits on minutes: of accounts "
       "with all below them, of users (in account=ACCOUNTS), associations, qos or wckeys; of "
       "everybody where none is named. What runs is charged from now on.",
       reset_usage},
      {{{"rebuild-usage"}},
       "[--check]",
       "Reckon usage again from the records of attempts and set right what is kept otherwise; with "
       "--check, --dry-run or --readonly only say what differs, and exit with 1 if anything does.",
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
      {'Q', "quiet", "", "Print errors and what has to be confirmed only.", cli::set_flag(f.quiet)},
      {0, "json", "", "With show: all that is known, as JSON.", cli::set_flag(f.json)},
  };
  table.unsupported = {{'a', "allclusters", false}, {'s', "associations", false},
                       {'v', "verbose", false},     {0, "yaml", false},
                       {0, "local", false},         {0, "autocomplete"}};
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
      return bad(std::string(other) +
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
           "wckeys, with shares and limits. Changes hold at once.",
           "Before anything is changed it shows what would be, and asks. If somebody else has "
           "changed one of the records meanwhile, nothing is done and it says so.",
           "Everybody may look. Operators and administrators, who are named in ares.yaml, may "
           "change everything; coordinators of an account what is in it and below it, but give "
           "nobody more QOS or priority than it has itself; users their own defaults."},
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
                     "names the line. Changes need -i there, as nobody can be asked."}}},
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
                    "Keep it in a file, and see what an edited one would change."}},
      .see_also = {"ares-accounting(7)", "ares-backup(7)", "aacct(1)", "asub(1)", "ares.yaml(5)"}};
  return text;
}

}  // namespace ares::aacctmgr
