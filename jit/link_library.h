// Links object code to a shared library, by LLD in this process, or writes an archive. Uses no compiler, linker or
// archiver of the machine; the same objects give the same bytes.
// Tested by tests/unit/jit/link_library_test.cpp.
#pragma once
#include <string>
#include <vector>

namespace nbcc {

struct LibraryObject {
  std::string name;   // "gravity_avx2.o"
  std::string bytes;  // contents of a relocatable ELF object
};

struct LinkRequest {
  std::vector<LibraryObject> objects;
  std::string soname;  // "libforces.so"
  // The soname of a library that need not exist at link time ("libnbcc_runtime.so.0"), and the functions that it
  // exports; no functions: there is no such library.
  std::string runtime_soname;
  std::vector<std::string> runtime_functions;
  std::vector<std::string> rpath;  // folders that the loader searches first; $ORIGIN is the library's own folder
};

// Both return the library's bytes. Throw DeviceError with the linker's log; a symbol that nothing defines is an
// InternalError.
std::string link_shared_library(const LinkRequest& request);
std::string make_archive(const std::vector<LibraryObject>& objects);

}  // namespace nbcc
