// Links object code to a library's bytes. Entry points: link_shared_library(), make_archive(). The linker uses files in
// a temporary folder, which is deleted afterwards; the library does not contain its path. Compiles only the stub of the
// runtime.
#include "jit/link_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>
#include <utility>

#include "compiler/text/diagnostic.h"
#include "compiler/text/read_file.h"
#include "jit/clang_compile.h"
#include "jit/temporary_folder.h"
#include "lld/Common/Driver.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "runtime/cache/file_size_signal.h"
#include "runtime/error.h"

LLD_HAS_DRIVER(elf)

namespace nbcc {
namespace {

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw DeviceError(fmt::format("{}: cannot be written", path));
}

std::string bytes_of_file(const std::string& path) {
  FileContent content = read_file(path, std::numeric_limits<std::size_t>::max() / 2);
  if (!content.problem.empty()) throw DeviceError(fmt::format("{}: cannot be read: {}", path, content.problem));
  return std::move(content.bytes);
}

void run_linker(const std::vector<std::string>& options) {
  // LLD keeps its state in globals.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::vector<const char*> words{"ld.lld", "--threads=1"};
  for (const std::string& option : options) words.push_back(option.c_str());
  std::string out, log;
  llvm::raw_string_ostream out_stream(out), log_stream(log);
  const lld::Result result = lld::lldMain(words, out_stream, log_stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0) return;
  if (log.find("undefined symbol") != std::string::npos) {
    throw InternalError(fmt::format("a compiled library has undefined symbols:\n{}", log));
  }
  throw DeviceError(fmt::format("linking the library failed:\n{}", log));
}

// Makes a stub: a shared object with the runtime's soname and functions that do nothing. The linker needs no more, so
// the runtime itself need not be installed.
void make_stub(const std::string& path, const TemporaryFolder& scratch, const LinkRequest& request) {
  std::string text;
  for (const std::string& function : request.runtime_functions) text += fmt::format("void {}(void) {{}}\n", function);
  const std::string object = scratch.file("stub.o");
  write_file(object, compile_in_memory({"the runtime's stub",
                                        {{"/stub.c", text}},
                                        "/stub.c",
                                        "-triple " + llvm::sys::getDefaultTargetTriple() +
                                            " -x c -mrelocation-model pic -pic-level 2"}));
  run_linker({"-shared", "--soname=" + request.runtime_soname, "-o", path, object});
}

// The path of one of the C library's shared objects in this process; "" if there is none.
// The new library requires the symbol versions of this file, as with any linker.
std::string path_of(const char* soname) {
  void* const handle = ::dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return {};
  struct link_map* map = nullptr;
  std::string path;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map) path = map->l_name;
  ::dlclose(handle);
  return path;
}

}  // namespace

std::string link_shared_library(const LinkRequest& request) {
  const FileSizeSignalHeld held;
  const TemporaryFolder scratch;
  const std::string result = scratch.file("library.so"), stub = scratch.file("runtime.so");
  std::vector<std::string> options{"-shared",
                                   "--soname=" + request.soname,
                                   "-o",
                                   result,
                                   "-z",
                                   "defs",
                                   "-z",
                                   "now",
                                   "--hash-style=gnu",
                                   "--build-id=sha1",
                                   "--eh-frame-hdr"};
  for (const std::string& folder : request.rpath) options.push_back("--rpath=" + folder);
  for (const LibraryObject& object : request.objects) {
    options.push_back(scratch.file(object.name.c_str()));
    write_file(options.back(), object.bytes);
  }
  if (!request.runtime_functions.empty()) {
    make_stub(stub, scratch, request);
    options.push_back(stub);
  }
  options.emplace_back("--as-needed");
  for (const char* soname : {"libm.so.6", "libc.so.6"}) {
    if (const std::string path = path_of(soname); !path.empty()) options.push_back(path);
  }
  run_linker(options);
  return bytes_of_file(result);
}

std::string make_archive(const std::vector<LibraryObject>& objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const LibraryObject& object : objects) {
    members.emplace_back(llvm::MemoryBufferRef(object.bytes, object.name));
    members.back().MemberName = object.name;
  }
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive =
      llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                 /*Deterministic=*/true, /*Thin=*/false);
  if (!archive) throw DeviceError("making the archive failed: " + llvm::toString(archive.takeError()));
  return (*archive)->getBuffer().str();
}

}  // namespace nbcc
