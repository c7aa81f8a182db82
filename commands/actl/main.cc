#include "actl/command.h"

namespace ares::actl {
namespace {

Result<int> act(Context& context, const Words& operands) {
  if (context.check) {
    Words files = operands;
    if (!context.check_file.empty()) files.insert(files.begin(), context.check_file);
    return check_config(context, files);
  }
  return operands.empty() ? interact(context) : dispatch(context, operands);
}

Result<int> run(const Words& words) {
  Context context;
  const cli::OptionTable table = options(context);
  return cli::run_line(manual(), table, context.common, words,
                       [&](const Words& operands) { return act(context, operands); });
}

}  // namespace
}  // namespace ares::actl

int main(int argc, char** argv) {
  return ares::cli::run_main("actl", argc, argv, ares::actl::run);
}
