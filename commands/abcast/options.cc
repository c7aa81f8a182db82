#include "abcast/options.h"

#include <cstdint>

#include "base/printable.h"
#include "base/units.h"

namespace ares::abcast {
namespace {

constexpr std::int64_t kMostPart = std::int64_t{1} << 18;  // of a message of arun

}  // namespace

cli::OptionTable options(Wanted& wanted) {
  cli::OptionTable table;
  table.environment_prefix = "ABCAST_";
  table.options = {
      {'f', "force", "", "Replace files that exist.", cli::set_flag(wanted.force)},
      {'p', "preserve", "", "Keep the mode and the times of the file.",
       cli::set_flag(wanted.preserve)},
      {'C', "compress", "[zlib]",
       "Compress the file by zlib on its way, where the network is slower than a CPU. Its size and "
       "SHA-256 are compared after that.",
       [&wanted](const std::string& text) -> Status {
         if (!text.empty() && text != "zlib")
           return fail(ErrorCode::invalid_argument, quote(text) + ": the only way is zlib");
         wanted.compress = true;
         return {};
       }},
      {'s', "size", "SIZE",
       "Send the file in parts of at most this; a plain number is bytes. Default: 256K.",
       [&wanted](const std::string& text) -> Status {
         const Result<Bytes> size = parse_memory(text, MemoryUnit::B);
         if (!size) return fail(size.error());
         if (size->value() < 1 || size->value() > kMostPart)
           return fail(ErrorCode::invalid_argument,
                       quote(text) + " is not a size from 1 byte to 256K");
         wanted.part = static_cast<std::size_t>(size->value());
         return {};
       }},
      {'j', "jobid", "JOB", "The job whose nodes get the file. Default: the one around.",
       cli::set_text(wanted.job)}};
  table.unsupported = {{'F', "fanout", true,
                        "the job's first node sends to each of the others; steps have no links "
                        "between these"},
                       {'t', "timeout"},
                       {0, "send-libs", false},
                       {0, "exclude"},
                       {0, "treewidth"}};
  cli::add_common_options(table, wanted.common);
  return table;
}

cli::Manual manual() {
  return {
      .name = "abcast",
      .summary = "copy a file to all nodes of a job",
      .synopsis = {"[OPTIONS] SOURCE DEST"},
      .description =
          {"abcast copies the file SOURCE to DEST on each node of the job, as the job's user and "
           "with what the job sees as /tmp. A DEST that ends with / is a directory. It is called "
           "within a job, or with --jobid from anywhere.",
           "A file appears at DEST only when it is whole: its size and SHA-256 are compared, and "
           "then it gets its name in one step. If abcast or a node is lost before, nothing is left "
           "there. Without --force a file that exists stays and is an error.",
           "The copies run as a step of the job, beside other steps."},
      .examples = {{"abcast model.bin /tmp/model.bin", "In a batch script: to every node."},
                   {"abcast -C -p data.tar /scratch/", "Compressed on its way."},
                   {"abcast -f -p -j 4711 solver /tmp/", "Replace a program of a job that runs."}},
      .exit_status = {{"0", "Each node has the file."},
                      {"1",
                       "At least one has not; a line on standard error names it and says why."},
                      {"75", "The controller could not be reached for as long as abcast retries."}},
      .see_also = {"arun(1)", "aalloc(1)", "asub(1)"}};
}

}  // namespace ares::abcast
