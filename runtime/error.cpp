// Defines the vtables and type information of the runtime's exceptions here, because some files that throw these
// exceptions are compiled without run-time type information (RTTI) and would emit incomplete ones.
#include "runtime/error.h"

namespace nbcc {
DeviceError::~DeviceError() = default;
UsageError::~UsageError() = default;
Interrupted::~Interrupted() = default;
SourceRejected::~SourceRejected() = default;
}  // namespace nbcc
