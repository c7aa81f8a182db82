#include "actl/command.h"

namespace ares::actl {
namespace {

Result<int> run(const std::vector<std::string>& words) {
  Context context;
  const cli::OptionTable table = options(context);
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  const auto operands = cli::take_options(table, words);
  if (!operands) return fail(operands.error());
  if (const auto code = cli::answer_common(manual(), table, context.common)) return *code;
  if (context.check) {
    Words files = *operands;
    if (!context.check_file.empty()) files.insert(files.begin(), context.check_file);
    return check_config(context, files);
  }
  if (operands->empty()) return interact(context);
  return dispatch(context, *operands);
}

}  // namespace
}  // namespace ares::actl

int main(int argc, char** argv) {
  const auto code = ares::actl::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::complain("actl", code.error());
}
