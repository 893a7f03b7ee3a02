// A library that is opened when it is wanted, so that the program starts without it.
#pragma once
#include <dlfcn.h>

#include <initializer_list>

namespace examples {

class SharedLibrary {
 public:
  // The first of the names that can be opened.
  SharedLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (!handle_) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
  }
  // Drivers do not like to be closed.
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  bool is_open() const { return handle_ != nullptr; }
  // Null if it has no such function.
  template <typename Function>
  Function find(const char* name) const {
    return handle_ ? reinterpret_cast<Function>(dlsym(handle_, name)) : nullptr;
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace examples
