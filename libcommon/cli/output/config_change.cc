#include "cli/output/config_change.h"

namespace ares::cli {

std::string change_text(const api::ConfigChange& change) {
  const auto shown = [](const std::string& value) { return value.empty() ? "(none)" : value; };
  std::string text = change.subject() + ": ";
  if (!change.field().empty()) text += change.field() + ": ";
  text += shown(change.before()) + " -> " + shown(change.after());
  switch (change.effect()) {
    case api::ConfigChange::CONTROLLER_RESTART: text += " (when aresctld is restarted)"; break;
    case api::ConfigChange::NODE_RESTART: text += " (when aresd is restarted there)"; break;
    case api::ConfigChange::REFUSED: text += " (refused)"; break;
    default: break;
  }
  return change.undoes_command() ? text + " (undoes a command)" : text;
}

}  // namespace ares::cli
