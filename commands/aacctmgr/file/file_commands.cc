// The commands dump and load.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "aacctmgr/command.h"
#include "aacctmgr/file/tree_file.h"
#include "base/printable.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace ares::aacctmgr {
namespace {

Result<std::string> read(const std::string& path) {
  const auto all = [](std::istream& in) {
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  if (path == "-") return all(std::cin);
  std::ifstream in(path, std::ios::binary);
  std::string text = in ? all(in) : std::string();
  if (!in || in.bad())
    return fail(ErrorCode::not_found, path +
                                          ": cannot be read; load needs a file, or - for "
                                          "standard input");
  return text;
}

}  // namespace

Result<int> dump(Context& context, const Words& operands) {
  if (operands.size() > 1) return invalid("dump takes one file");
  const auto snapshot = context.records();
  if (!snapshot) return fail(snapshot.error());
  const std::string text = dump_text(*snapshot);
  if (operands.empty() || operands[0] == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  // sacctmgr's form is file=NAME.
  const std::string path = operands[0].starts_with("file=") ? operands[0].substr(5) : operands[0];
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) return invalid(path + ": cannot be written");
  if (!context.flags.quiet)
    std::printf("%s: %zu records of cluster %s\n", path.c_str(), snapshot->records.size(),
                printable(snapshot->cluster).c_str());
  return 0;
}

Result<int> load(Context& context, const Words& operands) {
  std::string path;
  bool clean = false;
  for (const std::string& word : operands) {
    if (cli::lower(word) == "clean") {
      clean = true;
    } else if (path.empty()) {
      path = word.starts_with("file=") ? word.substr(5) : word;
    } else {
      return invalid("unexpected " + quote(word) + " behind the file; only clean may follow");
    }
  }
  if (path.empty()) return invalid("load: missing file operand (a file written by dump, or -)");
  if (path == "-" && context.script)
    return invalid("standard input holds the commands here; name a file");
  const auto text = read(path);
  if (!text) return fail(text.error());
  const auto file = parse_tree(*text, path == "-" ? "standard input" : path);
  if (!file) return fail(file.error());
  const auto snapshot = context.records();
  if (!snapshot) return fail(snapshot.error());
  if (!file->cluster.empty() && file->cluster != snapshot->cluster && !context.flags.quiet)
    std::fprintf(stderr, "aacctmgr: the file is of cluster %s, this one is %s\n",
                 printable(file->cluster).c_str(), printable(snapshot->cluster).c_str());
  if (path == "-" && !context.flags.immediate && !context.flags.dry_run)
    return invalid(
        "the file is read from standard input, so no question can be asked: add -i or --dry-run");
  return context.change(*snapshot, merged(snapshot->records, file->records, clean));
}

}  // namespace ares::aacctmgr
