// What reading an HDF5 file and changing one have in common: handles that close themselves, messages, groups, datasets.
#pragma once
#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

#include "particles/particle_table.h"

namespace nbcc {

class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }
  // Closes after writing: HDF5 may store numbers only now. False: it could not store them.
  [[nodiscard]] bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// For its lifetime HDF5 does not print its errors.
class Silence {
 public:
  Silence();
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence();

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// Throws FileError with the innermost line of HDF5's error stack.
[[noreturn]] void fail_in_hdf5(const std::string& path, const std::string& what);

struct Link {
  std::string name;
  H5O_type_t type;
};
std::vector<Link> links_of(hid_t group, const std::string& path);
std::ptrdiff_t datasets_in(const std::vector<Link>& links);

// The group `name`; of "" the root, or the only group, that holds datasets. Throws FileError.
Handle open_group(hid_t file, const std::string& name, const std::string& path);

// "" when the type is one of the four that we hold, after widening.
std::string type_fault(hid_t type, ElementType& element);
hid_t memory_type(ElementType type);

bool write_attribute(hid_t group, const std::string& key, const std::string& value);
bool write_dataset(hid_t group, const ParticleColumn& column, bool unnamed);

}  // namespace nbcc
