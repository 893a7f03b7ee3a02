// Files that are there as a whole, or not at all.
#pragma once
#include <functional>
#include <string>

namespace examples {

// Gives `write` the name of a draft beside `path`; when it returns, the draft takes the place of what was there in one
// step, so that the program may be killed at any moment. Where `path` is a pipe or a device, as /dev/stdout, that is
// given itself. If `write` throws or makes no file, there is no draft, and what was at `path` still is. Throws
// UsageError where nothing can be put.
void replace_file(const std::string& path, const std::function<void(const std::string& draft)>& write);

// Throws UsageError if replace_file() would: to be asked before hours of work whose result is to be written.
void require_place_for(const std::string& path);

}  // namespace examples
