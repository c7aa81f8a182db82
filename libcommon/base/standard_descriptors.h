// Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed, as cron jobs and daemons may leave them: the next file
// or socket that is opened would become standard input, output or error. To be called first in main().
#pragma once

namespace ares {

void open_standard_descriptors();

}  // namespace ares
