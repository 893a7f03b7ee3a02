// Dumps the sources and objects of kernels to a folder that the user names.
#pragma once
#include <string>

#include "compiler/kernel_source.h"

namespace nbcc {

// The path of a kernel's dumped files, without suffix; makes the folder. The path contains a hash of `key`, so that
// kernels which differ only in options get different files. Throws DeviceError if the folder cannot be made.
std::string dump_stem(const std::string& folder, const KernelSource& source, const std::string& key);

// Throws DeviceError if the file cannot be written.
void write_dump(const std::string& path, const std::string& content);

}  // namespace nbcc
