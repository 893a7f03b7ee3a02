// Spreads work over child processes, for libraries that work on one thing at a time in a process, such as NVRTC.
// Tested by tests/unit/jit/child_processes_test.cpp.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace nbcc {

// Returns work(0), ..., work(count - 1). With more than one process, each child is a copy of this process (fork) and
// takes the next index that no other child has taken. Only the results return to this process: other effects of `work`
// on memory are lost, and no destructor of a static object runs in a child. With one process, `work` runs here.
// If `work` throws, no further index is begun, and the exception with the smallest index is thrown here:
// SourceRejected, DeviceError and std::bad_alloc as such, others as std::runtime_error. Throws DeviceError if a child
// is killed or cannot be started.
std::vector<std::string> run_in_processes(std::size_t count, unsigned processes,
                                          const std::function<std::string(std::size_t index)>& work);

}  // namespace nbcc
