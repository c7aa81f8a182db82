#include "aacctmgr/command.h"
#include "aacctmgr/interact.h"

namespace ares::aacctmgr {
namespace {

Result<int> run(const Words& words) {
  Context context;
  const cli::OptionTable table = options(context);
  return cli::run_line(manual(), table, context.common, words,
                       [&](const Words& operands) -> Result<int> {
                         return operands.empty() ? interact(context) : dispatch(context, operands);
                       });
}

}  // namespace
}  // namespace ares::aacctmgr

int main(int argc, char** argv) {
  return ares::cli::run_main("aacctmgr", argc, argv, ares::aacctmgr::run);
}
