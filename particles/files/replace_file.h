// Writes a whole file or none: into a temporary file beside it, which then takes its name.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace nbcc {

// Throws FileError when `path` cannot become a file of ours: it is a folder, its folder is not there or not
// writable, or it exists and `force` is not set.
void check_replaceable(const std::string& path, bool force);

// An existing file keeps its permissions, a symbolic link its place (the file it points to is replaced). Devices and
// pipes (/dev/null, /dev/stdout) are written to directly. On failure nothing has changed and no temporary file is
// left. Throws FileError.
void replace_file(const std::string& path, std::string_view bytes, bool force);

// The same with a copy of `source` that `edit` changes, given the path of the draft. Devices and pipes are refused.
void replace_file(const std::string& path, const std::string& source,
                  const std::function<void(const std::string& draft)>& edit, bool force);

// Whole, or with an error: so that a full disk or a closed pipe is noticed. Throws FileError.
void write_standard_output(std::string_view text);

}  // namespace nbcc
