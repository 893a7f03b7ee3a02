// Object files and archives -> sections. One door: sections_of_library(). Loads and runs nothing.
#include "jit/read_library.h"

#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

[[noreturn]] void refuse(llvm::Error error) { throw UsageError("is no library: " + llvm::toString(std::move(error))); }

template <typename T>
T expect(llvm::Expected<T> value) {
  if (!value) refuse(value.takeError());
  return std::move(*value);
}

void add_sections(const llvm::object::ObjectFile& object, llvm::StringRef prefix, std::vector<std::string>& found) {
  for (const llvm::object::SectionRef& section : object.sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());  // a section without a name is none of ours
      continue;
    }
    if (name->starts_with(prefix)) found.push_back(expect(section.getContents()).str());
  }
}

}  // namespace

std::vector<std::string> sections_of_library(const std::string& bytes, const std::string& prefix) {
  std::vector<std::string> found;
  const llvm::MemoryBufferRef buffer(bytes, "library");
  const std::unique_ptr<llvm::object::Binary> binary = expect(llvm::object::createBinary(buffer));
  if (const auto* archive = llvm::dyn_cast<llvm::object::Archive>(binary.get())) {
    llvm::Error problem = llvm::Error::success();
    for (const llvm::object::Archive::Child& child : archive->children(problem)) {
      const std::unique_ptr<llvm::object::Binary> member = expect(child.getAsBinary());
      if (const auto* object = llvm::dyn_cast<llvm::object::ObjectFile>(member.get())) {
        add_sections(*object, prefix, found);
      }
    }
    if (problem) refuse(std::move(problem));
  } else if (const auto* object = llvm::dyn_cast<llvm::object::ObjectFile>(binary.get())) {
    add_sections(*object, prefix, found);
  } else {
    throw UsageError("is no library");
  }
  return found;
}

}  // namespace nbcc
