// Writes a file atomically: into a temporary file in the same folder, which is then renamed.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace nbcc {

// Throws FileError if `path` cannot be written: it is a folder, its folder does not exist or is not writable, or the
// file exists and `force` is not set.
void check_replaceable(const std::string& path, bool force);

// Writes `bytes` to `path`. An existing file keeps its permissions; a symbolic link stays, and the file that it points
// to is replaced. Devices and pipes (/dev/null, /dev/stdout) are written to directly. On failure nothing has changed
// and no temporary file remains. Throws FileError.
void replace_file(const std::string& path, std::string_view bytes, bool force);

// Writes a copy of `source` to `path`; `edit` changes the copy before it is renamed. Devices and pipes are refused.
void replace_file(const std::string& path, const std::string& source,
                  const std::function<void(const std::string& draft)>& edit, bool force);

// Writes and flushes the entire text. Throws FileError if that fails, as on a full disk or a closed pipe.
void write_standard_output(std::string_view text);

}  // namespace nbcc
