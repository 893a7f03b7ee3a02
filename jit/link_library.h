// Object code -> a library: a shared one by LLD inside this process, or an archive. No compiler, linker or archiver of
// the machine takes part, and the same objects give the same bytes.
// Tested by tests/unit/link_library_test.cpp.
#pragma once
#include <string>
#include <vector>

namespace nbcc {

struct LibraryObject {
  std::string name;   // "gravity_avx2.o"
  std::string bytes;  // of a relocatable ELF object
};

struct LinkRequest {
  std::vector<LibraryObject> objects;
  std::string soname;  // "libforces.so"
  // A library that is not looked for now, by what it is called when this one is loaded ("libnbcc_runtime.so.0"), and
  // the functions that it will have; none: there is no such library.
  std::string runtime_soname;
  std::vector<std::string> runtime_functions;
  std::vector<std::string> rpath;  // where the loader looks for them first; $ORIGIN is the library's own folder
};

// Both return the library's bytes. Throw DeviceError with the linker's log; a symbol that nothing defines is an
// InternalError.
std::string link_shared_library(const LinkRequest& request);
std::string make_archive(const std::vector<LibraryObject>& objects);

}  // namespace nbcc
