// Where the vtables and type information of the runtime's exceptions live: some files that throw them are compiled
// without run-time type information, and theirs would be incomplete.
#include "runtime/error.h"

namespace nbcc {
DeviceError::~DeviceError() = default;
UsageError::~UsageError() = default;
Interrupted::~Interrupted() = default;
TextRefused::~TextRefused() = default;
}  // namespace nbcc
