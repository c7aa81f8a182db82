#include "aacctmgr/show/fields.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "aacctmgr/edit/limits_text.h"
#include "aacctmgr/edit/properties.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "config/suggest.h"

namespace ares::aacctmgr {
namespace {

using R = const Row&;

const Limits* limits_of(R row) {
  if (row.qos) return &row.qos->limits;
  const Terms* terms = row.terms();
  return terms ? &terms->limits : nullptr;
}

std::string time_text(std::int64_t micros, const char* none = "") {
  return micros == 0 ? none : format_local_time(Time(Duration(micros)));
}

// "2025-01"
std::string month_text(std::int64_t micros) {
  const std::chrono::year_month_day day{
      std::chrono::floor<std::chrono::days>(Time(Duration(micros)))};
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()));
  return text;
}

// "12_3", the format of job ids in all commands.
std::string job_id(R row) {
  if (!row.runaway) return "";
  const api::JobRef& job = row.runaway->job();
  return std::to_string(job.job()) + (job.has_task() ? "_" + std::to_string(job.task()) : "");
}

std::string account_name(R row) {
  if (row.runaway) return row.runaway->account();
  const std::string name = row.account       ? row.account->name
                           : row.association ? row.association->key.account
                                             : "";
  return std::string(row.indent, ' ') + name;
}

std::string user_name(R row) {
  if (row.association) return row.association->key.user;
  if (row.user) return row.user->name;
  if (row.change) return row.change->user();
  if (row.runaway) return row.runaway->user();
  return row.wckey ? row.wckey->key.user : "";
}

std::string shares(R row) {
  const Terms* terms = row.terms();
  if (!terms) return "";
  return terms->shares ? std::to_string(*terms->shares) : "parent";
}

std::string priority(R row) {
  const Terms* terms = row.terms();
  const std::uint32_t value = row.qos ? row.qos->priority : terms ? terms->priority : 0;
  return value == 0 && !row.qos ? "" : std::to_string(value);
}

std::string id(R row) {
  if (row.association) return std::to_string(row.association->id.value());
  if (row.qos) return std::to_string(row.qos->id.value());
  if (row.change) return std::to_string(row.change->id());
  return row.account ? std::to_string(row.account->id.value()) : "";
}

std::string property(const char* name, const AccountingRecord& record) {
  const Property* found = find_property(key_of(record).kind, name);
  const std::string text = found->get(record);
  return text.empty() ? found->usual : text;
}

std::string description(R row) {
  return row.qos ? row.qos->description : row.account ? row.account->description : "";
}

std::string coordinators(R row) {
  if (!row.account || row.association) return "";
  return cli::join(row.account->coordinators, ",");
}

// Wide enough for most values of the kind.
int width_of(const LimitRow& row) {
  return row.unit == LimitUnit::tres || row.unit == LimitUnit::tres_minutes ? 13
         : row.unit == LimitUnit::minutes                                   ? 11
                                                                            : 7;
}

std::vector<Field> all_fields() {
  std::vector<Field> all = {
      {"Account", "Account", 10, "account", account_name},
      {"Action", "Action", -18, "what was done",
       [](R r) { return r.change ? r.change->action() : ""; }},
      {"Allocated", "Allocated", 19,
       "since when a runaway job holds what it has, as accounting says",
       [](R r) { return r.runaway ? time_text(r.runaway->allocated()) : ""; }},
      {"Archived", "Archived", 19, "when attempts left the database for a file",
       [](R r) { return r.file ? time_text(r.file->written()) : ""; }},
      {"Attempt", "Attempt", 7, "which attempt of a runaway job",
       [](R r) { return r.runaway ? std::to_string(r.runaway->attempt()) : ""; }},
      {"Cluster", "Cluster", 10, "cluster", [](R r) { return r.snapshot->cluster; }},
      {"Coordinators", "Coord Accounts", 20, "users who administer the account", coordinators},
      {"DefaultAccount", "Def Acct", 10, "the user's default account",
       [](R r) { return r.user ? r.user->default_account : ""; }},
      {"DefaultQOS", "Def QOS", 9, "QOS of jobs that name none",
       [](R r) { return r.terms() ? r.terms()->default_qos : ""; }},
      {"DefaultWCKey", "Def WCKey", 10, "the user's default wckey",
       [](R r) { return r.user ? r.user->default_wckey : ""; }},
      {"Description", "Descr", 20, "description of an account or QOS", description},
      {"Enforce", "Enforce", 12, "how far jobs are held to all this: accounting.enforce",
       [](R r) { return r.snapshot->enforce; }},
      {"File", "File", -40, "file of an archive, on the controller's machine",
       [](R r) { return r.file ? r.file->path() : ""; }},
      {"Flags", "Flags", 20, "flags of a QOS",
       [](R r) { return r.qos ? property("flags", *r.qos) : ""; }},
      {"Host", "Host", 12, "where a change came from",
       [](R r) { return r.change ? r.change->host() : ""; }},
      {"ID", "ID", 6, "number of the association, QOS or transaction", id},
      {"JobID", "JobID", 12, "a runaway job", job_id},
      {"Loaded", "Loaded", 19, "since when attempts of an archive are back in the database",
       [](R r) { return r.file ? time_text(r.file->loaded(), "no") : ""; }},
      {"Month", "Month", 7, "of an archive: when its attempts ended (UTC)",
       [](R r) { return r.file ? month_text(r.file->start()) : ""; }},
      {"Name", "Name", 10, "name of a QOS, wckey, TRES or runaway job",
       [](R r) {
         if (r.runaway) return r.runaway->name();
         const std::size_t slash = r.text.find('/');
         return r.qos                        ? r.qos->name
                : r.wckey                    ? r.wckey->key.name
                : slash == std::string::npos ? ""
                                             : r.text.substr(slash + 1);
       }},
      {"NodeList", "NodeList", 15, "nodes of a runaway job",
       [](R r) { return r.runaway ? r.runaway->nodes() : ""; }},
      {"Organization", "Org", 20, "organization of an account",
       [](R r) { return r.account ? r.account->organization : ""; }},
      {"Outcome", "Outcome", -20, "what came of a change: ok, or why it was refused",
       [](R r) { return r.change ? r.change->outcome() : ""; }},
      {"ParentName", "Par Name", 10, "the account above",
       [](R r) { return r.account && !r.association ? r.account->parent : ""; }},
      {"Partition", "Partition", 10, "partition for which it holds; none: all others",
       [](R r) {
         if (r.runaway) return r.runaway->partition();
         return r.association ? r.association->key.partition : "";
       }},
      {"Priority", "Priority", 10, "what jobs get for it in their priority", priority},
      {"Problem", "Problem", -60, "what is probably not meant", [](R r) { return r.text; }},
      {"QOS", "QOS", 20, "QOS that may be used; none: as the account above says",
       [](R r) { return r.terms() ? cli::join(r.terms()->qos, ",") : ""; }},
      {"Rows", "Attempts", 10, "how many attempts an archive holds",
       [](R r) { return r.file ? std::to_string(r.file->rows()) : ""; }},
      {"Share", "Share", 9, "its share among its siblings", shares},
      {"Started", "Started", 19, "when a runaway job started",
       [](R r) { return r.runaway ? time_text(r.runaway->started(), "Unknown") : ""; }},
      {"State", "State", 12, "how accounting has a runaway job",
       [](R r) { return r.runaway ? r.runaway->state() : ""; }},
      {"Subject", "Subject", -40, "what was changed",
       [](R r) { return r.change ? r.change->subject() : ""; }},
      {"Submitted", "Submitted", 19, "when a runaway job was submitted",
       [](R r) { return r.runaway ? time_text(r.runaway->submitted()) : ""; }},
      {"Time", "Time", 19, "when a change was made",
       [](R r) { return r.change ? time_text(r.change->at()) : ""; }},
      {"Type", "Type", 8, "kind of a TRES", [](R r) { return r.text.substr(0, r.text.find('/')); }},
      {"Preempt", "Preempt", 12, "QOS whose running jobs make room for its own",
       [](R r) { return r.qos ? property("preempt", *r.qos) : ""; }},
      {"PreemptMode", "PreemptMode", 11, "what becomes of its running jobs then",
       [](R r) { return r.qos ? property("preemptmode", *r.qos) : ""; }},
      {"PreemptExemptTime", "PreemptExemptTime", 17, "for so long they run before that",
       [](R r) { return r.qos ? property("preemptexempttime", *r.qos) : ""; }},
      {"GraceTime", "GraceTime", 10, "from SIGTERM to SIGKILL then",
       [](R r) { return r.qos ? property("gracetime", *r.qos) : ""; }},
      {"LimitFactor", "LimitFactor", 11, "how much wider accounts' limits on TRES are for its jobs",
       [](R r) { return r.qos ? property("limitfactor", *r.qos) : ""; }},
      {"UsageThreshold", "UsageThres", 10, "fair share below which a user starts no jobs with it",
       [](R r) { return r.qos ? property("usagethreshold", *r.qos) : ""; }},
      {"UsageFactor", "UsageFactor", 11, "what usage is multiplied by",
       [](R r) { return r.qos ? property("usagefactor", *r.qos) : ""; }},
      {"User", "User", 10, "user", user_name},
      {"WCKey", "WCKey", 10, "wckey", [](R r) { return r.wckey ? r.wckey->key.name : ""; }},
  };
  for (const LimitRow& row : limit_table())
    all.push_back({std::string(row.name), std::string(row.name), width_of(row),
                   std::string(row.help), [kind = row.kind](R r) {
                     const Limits* limits = limits_of(r);
                     return limits ? limit_text(*limits, kind) : "";
                   }});
  return all;
}

// Maps sacctmgr's field names that are not prefixes of ours to our names.
std::string other_name(const std::string& name) {
  static const std::vector<std::pair<std::string, std::string>> foreign_names = {
      {"fairshare", "Share"},        {"acct", "Account"},      {"parent", "ParentName"},
      {"defacct", "DefaultAccount"}, {"defqos", "DefaultQOS"}, {"defwckey", "DefaultWCKey"},
      {"descr", "Description"},      {"org", "Organization"},  {"qoslevel", "QOS"},
      {"coord", "Coordinators"}};
  for (const auto& [other, ours] : foreign_names)
    if (other == name) return cli::lower(ours);
  if (const LimitRow* limit = find_limit(name)) return cli::lower(limit->name);
  return name;
}

Result<const Field*> find_field(const std::string& word) {
  const std::string name = other_name(cli::lower(word));
  std::vector<const Field*> begun;
  std::vector<std::string> names;
  for (const Field& field : fields()) {
    const std::string own = cli::lower(field.name);
    if (own == name) return &field;
    if (!name.empty() && own.starts_with(name)) begun.push_back(&field);
    names.push_back(field.name);
  }
  if (begun.size() == 1) return begun[0];
  const std::string meant = config::suggestion(word, names);
  return fail(ErrorCode::invalid_argument,
              begun.empty() ? "unknown field " + quote(word) +
                                  (meant.empty() ? "; the manual lists them under FIELDS" : meant)
                            : "the field " + quote(word) + " could be " + begun[0]->name + " or " +
                                  begun[1]->name);
}

}  // namespace

const Terms* Row::terms() const {
  if (association) return &association->terms;
  return account ? &account->terms : nullptr;
}

const std::vector<Field>& fields() {
  static const std::vector<Field> all = all_fields();
  return all;
}

std::vector<std::string> field_texts() {
  std::vector<std::string> texts = {
      "Of format=, separated by commas; NAME%WIDTH cuts to a width, a negative one aligns to the "
      "left. Names may be shortened."};
  for (const Field& field : fields()) texts.push_back(field.name + ": " + field.help + ".");
  return texts;
}

Result<std::vector<SelectedField>> parse_fields(const std::string& list) {
  std::vector<SelectedField> chosen;
  for (const std::string& item : cli::split(list, ',')) {
    if (item.empty()) continue;
    const std::size_t percent = item.find('%');
    const auto field = find_field(item.substr(0, percent));
    if (!field) return fail(field.error());
    SelectedField one{*field, (*field)->width, false};
    if (percent != std::string::npos) {
      const auto width = cli::parse_integer(item.substr(percent + 1), -1000, 1000);
      if (!width || *width == 0)
        return fail(ErrorCode::invalid_argument, "field " + quote(item) + ": expected NAME%WIDTH");
      one.width = static_cast<int>(*width);
      one.fixed = true;
    }
    chosen.push_back(one);
  }
  if (chosen.empty()) return fail(ErrorCode::invalid_argument, "no field is named");
  return chosen;
}

std::string usual_fields(Entity entity, bool with_associations) {
  const std::string limits =
      "Share,Priority,GrpJobs,GrpTRES,GrpSubmitJobs,GrpWall,GrpTRESMins,MaxJobs,MaxTRESPerJob,"
      "MaxTRESPerNode,MaxSubmitJobs,MaxWall,MaxTRESMinsPerJob,QOS,DefaultQOS,GrpTRESRunMins";
  switch (entity) {
    case Entity::account:
      return std::string("Account,Description,Organization") +
             (with_associations ? ",Cluster,ParentName,User," + limits : "");
    case Entity::user:
      return std::string("User,DefaultAccount,DefaultWCKey") +
             (with_associations ? ",Cluster,Account,Partition," + limits : "");
    case Entity::association: return "Cluster,Account,User,Partition," + limits;
    case Entity::qos:
      return "Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags,UsageThreshold,"
             "UsageFactor,LimitFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,"
             "GrpSubmitJobs,GrpWall,MaxTRESPerJob,MaxTRESPerNode,MaxTRESMinsPerJob,MaxWall,"
             "MaxTRESPerUser,MaxJobsPerUser,MaxSubmitJobsPerUser,MaxTRESPerAccount,"
             "MaxJobsPerAccount,MaxSubmitJobsPerAccount,MinTRESPerJob";
    case Entity::wckey: return "WCKey,Cluster,User";
    case Entity::coordinator: return "Account,User";
    case Entity::cluster:
      return "Cluster,Enforce,Share,GrpJobs,GrpTRES,GrpSubmitJobs,MaxJobs,MaxTRESPerJob,"
             "MaxSubmitJobs,MaxWall,QOS,DefaultQOS";
    case Entity::tres: return "Type,Name";
    case Entity::problem: return "Problem";
    case Entity::transaction: return "Time,User,Host,Action,Subject,Outcome";
    case Entity::runaway_jobs:
      return "JobID,Attempt,Name,User,Account,Partition,State,Submitted,Allocated,NodeList";
  }
  return "Name";
}

}  // namespace ares::aacctmgr
