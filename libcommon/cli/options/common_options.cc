#include "cli/options/common_options.h"

namespace ares::cli {

void add_common_options(OptionTable& table, CommonOptions& common, char help_letter) {
  const auto add = [&](char letter, const char* name, const char* argument, const char* help,
                       std::function<Status(const std::string&)> apply) {
    Option option{letter, name, argument, help, std::move(apply)};
    option.directive = false;
    option.environment = false;
    table.options.push_back(std::move(option));
  };
  add(0, "config", "FILE", "Read this configuration instead of $ARES_CONF or /etc/ares/ares.yaml.",
      set_text(common.config));
  add(help_letter, "help", "", "Print this text and stop.", set_flag(common.help));
  add('V', "version", "", "Print the version and stop.", set_flag(common.version));
}

}  // namespace ares::cli
