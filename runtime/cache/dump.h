// The texts and objects of kernels in a folder of the user's, to be looked at.
#pragma once
#include <string>

#include "compiler/kernel_source.h"

namespace nbcc {

// Path of a kernel's dumped files, without their ending; makes the folder. `key` keeps apart what differs in options
// only. Throws DeviceError if the folder cannot be made.
std::string dump_stem(const std::string& folder, const KernelSource& source, const std::string& key);

// Throws DeviceError if the file cannot be written.
void write_dump(const std::string& path, const std::string& content);

}  // namespace nbcc
