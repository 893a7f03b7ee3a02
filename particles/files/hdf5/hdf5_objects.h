// Helpers for reading and updating HDF5 files: RAII handles, error messages, groups, datasets.
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
  // To be called after writing, because HDF5 may store numbers only at close. False: they could not be stored.
  [[nodiscard]] bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Keeps HDF5 from printing its error stack, as long as this object lives.
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

// Throws FileError with `what` and the innermost line of HDF5's error stack.
[[noreturn]] void fail_in_hdf5(const std::string& path, const std::string& what);

struct Link {
  std::string name;
  H5O_type_t type;  // H5O_TYPE_UNKNOWN: it refers to an object of another file that cannot be opened
};
std::vector<Link> links_of(hid_t group, const std::string& path);
std::ptrdiff_t datasets_in(const std::vector<Link>& links);

// Opens the group `name`. "": the root group if it holds datasets, else the only group that does. Throws FileError.
Handle open_group(hid_t file, const std::string& name, const std::string& path);

// Opens the groups of a name such as PartType0+PartType1, in this order; any other name as open_group() does. A group
// whose own name has a '+' is one group. Throws FileError.
std::vector<Handle> open_groups(hid_t file, const std::string& name, const std::string& path);

// The last component of a group's path: "PartType0".
std::string name_of(hid_t group);

// The first length of the group's first dataset of one or two dimensions; 0 if there is none.
std::int64_t rows_of_group(hid_t group, const std::string& path);

// Sets `element` to the column type that holds numbers of this type and returns ""; else returns why there is none.
std::string type_fault(hid_t type, ElementType& element);
hid_t memory_type(ElementType type);

bool write_attribute(hid_t group, const std::string& key, const std::string& value);
bool write_dataset(hid_t group, const ParticleColumn& column, bool unnamed);

}  // namespace nbcc
