// Handles, groups and datasets of HDF5. The entry points are declared in the header. HDF5 prints its error stack by
// default; here it is not printed, and its innermost line goes into the exception.
#include "particles/files/hdf5/hdf5_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "particles/file_error.h"
#include "particles/files/hdf5/gadget_names.h"

namespace nbcc {
namespace {

std::string innermost_error() {
  std::string text = "HDF5 gives no reason";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &text);
  return text;
}

}  // namespace

Silence::Silence() {
  // After reading a damaged file HDF5's exit handler fails and prints errors. It is not needed: all handles are closed.
  H5dont_atexit();
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Silence::~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

void fail_in_hdf5(const std::string& path, const std::string& what) {
  throw FileError(path, fmt::format("{}: {}", what, innermost_error()));
}

std::vector<Link> links_of(hid_t group, const std::string& path) {
  const Handle plist(H5Gget_create_plist(group), H5Pclose);
  unsigned order = 0;
  H5Pget_link_creation_order(plist, &order);
  const H5_index_t index = order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<Link> links;
  hsize_t at = 0;
  const herr_t done = H5Literate(
      group, index, H5_ITER_INC, &at,
      [](hid_t parent, const char* name, const H5L_info_t* link, void* out) -> herr_t {
        H5O_info_t info;
        const bool exists = H5Oget_info_by_name2(parent, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0;
        // Dangling links within the file are skipped.
        if (exists || link->type == H5L_TYPE_EXTERNAL)
          static_cast<std::vector<Link>*>(out)->push_back({name, exists ? info.type : H5O_TYPE_UNKNOWN});
        return 0;
      },
      &links);
  if (done < 0) fail_in_hdf5(path, "its contents cannot be listed");
  return links;
}

std::ptrdiff_t datasets_in(const std::vector<Link>& links) {
  return std::ranges::count(links, H5O_TYPE_DATASET, &Link::type);
}

std::string type_fault(hid_t type, ElementType& element) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      if (size != 4 && size != 8)
        return fmt::format("holds {}-bit floating point numbers; store float32 or float64", size * 8);
      element = size == 8 ? ElementType::Double : ElementType::Float;
      return "";
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
      if (size > 8)
        return fmt::format("holds {}signed {}-bit integers, which do not fit int64; store int64", is_signed ? "" : "un",
                           size * 8);
      element = size < 4 || (size == 4 && is_signed) ? ElementType::Int32 : ElementType::Int64;
      return "";
    }
    case H5T_ENUM:  // h5py's booleans
      return type_fault(Handle(H5Tget_super(type), H5Tclose), element);
    case H5T_COMPOUND:
      return "holds records (a compound type); store a dataset for each column";
    case H5T_STRING:
      return "holds text, not numbers";
    default:
      return "holds neither floating point numbers nor integers";
  }
}

hid_t memory_type(ElementType type) {
  switch (type) {
    case ElementType::Double:
      return H5T_NATIVE_DOUBLE;
    case ElementType::Float:
      return H5T_NATIVE_FLOAT;
    case ElementType::Int32:
      return H5T_NATIVE_INT32;
    case ElementType::Int64:
      break;
  }
  return H5T_NATIVE_INT64;
}

Handle open_group(hid_t file, const std::string& name, const std::string& path) {
  if (!name.empty()) {
    Handle group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group.valid()) throw FileError(path, fmt::format("there is no group '{}' in it", name));
    return group;
  }
  Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  if (!root.valid()) fail_in_hdf5(path, "its root group cannot be opened");
  const std::vector<Link> links = links_of(root, path);
  if (datasets_in(links) > 0) return root;
  std::vector<std::string> groups;
  for (const Link& link : links) {
    if (link.type != H5O_TYPE_GROUP) continue;
    const Handle group(H5Gopen2(root, link.name.c_str(), H5P_DEFAULT), H5Gclose);
    if (group.valid() && datasets_in(links_of(group, path)) > 0) groups.push_back(link.name);
  }
  // A snapshot has groups besides its particles (cells, units, links to the same particles); ignore them.
  const auto is_other = [](const std::string& group) { return !gadget_type(group); };
  if (!std::ranges::all_of(groups, is_other)) std::erase_if(groups, is_other);
  if (groups.empty()) throw FileError(path, "there are no datasets in it");
  if (groups.size() > 1)
    throw FileError(path, fmt::format("several groups hold datasets ({}); name one: {}:{}, or several: {}:{}+{}",
                                      fmt::join(groups, ", "), path, groups[0], path, groups[0], groups[1]));
  return Handle(H5Gopen2(root, groups[0].c_str(), H5P_DEFAULT), H5Gclose);
}

std::vector<Handle> open_groups(hid_t file, const std::string& name, const std::string& path) {
  std::vector<Handle> groups;
  const bool several = name.find('+') != std::string::npos && H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0;
  std::vector<std::string> seen;
  for (std::size_t at = 0; several && at <= name.size();) {
    const std::size_t end = std::min(name.find('+', at), name.size());
    const std::string part = name.substr(at, end - at);
    if (part.empty())
      throw FileError(path, fmt::format("a name is missing in '{}'; groups are joined as PartType0+PartType1", name));
    groups.push_back(open_group(file, part, path));
    const std::string own = name_of(groups.back());
    if (std::ranges::find(seen, own) != seen.end())
      throw FileError(path, fmt::format("the group {} is named twice in '{}'", own, name));
    seen.push_back(own);
    at = end + 1;
  }
  if (!several) groups.push_back(open_group(file, name, path));
  return groups;
}

std::string name_of(hid_t group) {
  std::string name(256, '\0');
  const ssize_t length = H5Iget_name(group, name.data(), name.size());
  name.resize(std::clamp<std::size_t>(length < 0 ? 0 : std::size_t(length), 0, name.size() - 1));
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  return name.substr(name.find_last_of('/') + 1);
}

std::int64_t rows_of_group(hid_t group, const std::string& path) {
  for (const Link& link : links_of(group, path)) {
    if (link.type != H5O_TYPE_DATASET) continue;
    const Handle dataset(H5Dopen2(group, link.name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(H5Dget_space(dataset), H5Sclose);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    hsize_t shape[2] = {0, 0};
    if (dimensions != 1 && dimensions != 2) continue;
    H5Sget_simple_extent_dims(space, shape, nullptr);
    return static_cast<std::int64_t>(shape[0]);
  }
  return 0;
}

bool write_attribute(hid_t group, const std::string& key, const std::string& value) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, value.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle attribute(H5Acreate2(group, key.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, type, value.c_str()) >= 0 && attribute.close();
}

bool write_dataset(hid_t group, const ParticleColumn& column, bool unnamed) {
  const hsize_t shape[2] = {static_cast<hsize_t>(column.rows()), static_cast<hsize_t>(column.components)};
  const Handle space(H5Screate_simple(column.components > 1 || unnamed ? 2 : 1, shape, nullptr), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // Without creation times the same table gives the same bytes.
  H5Pset_obj_track_times(creation, 0);
  const hid_t type = memory_type(column.type());
  Handle dataset(H5Dcreate2(group, column.name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
  return dataset.valid() &&
         (column.rows() == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.values()) >= 0) &&
         dataset.close();
}

}  // namespace nbcc
