// Finds the other files that a dataset takes its numbers from. The entry points are declared in the header. Reads no
// numbers.
#include "particles/files/hdf5/hdf5_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "particles/file_error.h"
#include "particles/files/hdf5/hdf5_objects.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 16;  // of virtual datasets whose sources are virtual

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

// The value of an environment variable that HDF5 puts before a path; ${ORIGIN} is the folder of the file. "": none.
std::string prefix_of(const char* variable, const std::string& path) {
  const char* const value = std::getenv(variable);
  std::string prefix = value ? value : "";
  constexpr std::string_view origin = "${ORIGIN}";
  if (prefix.starts_with(origin)) prefix.replace(0, origin.size(), folder_of(path).empty() ? "." : folder_of(path));
  return prefix;
}

// The paths at which HDF5 looks for a source of a virtual dataset of the file `path`, in its order.
std::vector<fs::path> paths_of_source(const std::string& name, const std::string& path) {
  std::vector<fs::path> paths;
  fs::path rest = name;
  if (rest.is_absolute()) {
    paths.push_back(rest);
    rest = rest.filename();
  }
  if (const std::string prefix = prefix_of("HDF5_VDS_PREFIX", path); !prefix.empty())
    paths.push_back(fs::path(prefix) / rest);
  paths.push_back(fs::path(folder_of(path)) / rest);
  paths.push_back(rest);
  std::error_code unknown;
  if (const fs::path real = fs::canonical(path, unknown); !unknown) paths.push_back(real.parent_path() / rest);
  return paths;
}

struct OpenFile {
  Handle handle;
  std::string path;
};

OpenFile open_source(const std::string& name, const std::string& path) {
  for (const fs::path& each : paths_of_source(name, path)) {
    Handle file(H5Fopen(each.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (file.valid()) return {std::move(file), each.string()};
  }
  return {Handle(-1, H5Fclose), ""};
}

// The text that get(address, size) returns in the manner of HDF5: its length, without an address.
template <class Get>
std::string text_by(Get get) {
  const ssize_t length = get(nullptr, 0);
  std::string text(std::size_t(std::max<ssize_t>(length, 0)) + 1, '\0');
  if (length > 0) get(text.data(), text.size());
  text.pop_back();
  return text;
}

std::string file_of_source(hid_t creation, std::size_t k) {
  return text_by([&](char* to, std::size_t size) { return H5Pget_virtual_filename(creation, k, to, size); });
}

std::string dataset_of_source(hid_t creation, std::size_t k) {
  return text_by([&](char* to, std::size_t size) { return H5Pget_virtual_dsetname(creation, k, to, size); });
}

// A source dataset, the selection of its numbers and their count.
struct Source {
  std::string file, dataset;
  Handle selection;
  hssize_t count;  // negative: as many as there are
};

void check_sources(hid_t dataset, const std::string& label, const std::string& path, int depth);

// Throws FileError unless the source exists and has all numbers of the selection.
void check_source(hid_t dataset, const Source& source, const std::string& label, const std::string& path, int depth) {
  const bool same_file = source.file == ".";
  OpenFile other =
      same_file ? OpenFile{Handle(H5Iget_file_id(dataset), H5Fclose), path} : open_source(source.file, path);
  if (!other.handle.valid())
    throw FileError(
        path, fmt::format("{} has numbers in the file '{}', which cannot be opened: they would be read as 0", label,
                          source.file));
  const Handle numbers(H5Dopen2(other.handle, source.dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const std::string name = fmt::format("the dataset '{}' of '{}'", source.dataset, same_file ? path : source.file);
  if (!numbers.valid())
    throw FileError(path,
                    fmt::format("{} has numbers in {}, which does not exist: they would be read as 0", label, name));
  const Handle space(H5Dget_space(numbers), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> shape(std::size_t(std::max(dimensions, 1))), first(shape.size()), last(shape.size());
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  // H5S_SEL_ALL has no shape of its own: the source dataset must have as many numbers.
  if (H5Sget_select_type(source.selection) == H5S_SEL_ALL && H5Sget_simple_extent_npoints(space) != source.count)
    throw FileError(path, fmt::format("{} has {} numbers in {}, which has {}", label, source.count, name,
                                      H5Sget_simple_extent_npoints(space)));
  const bool bounded = source.count > 0 && H5Sget_simple_extent_ndims(source.selection) == dimensions &&
                       H5Sget_select_bounds(source.selection, first.data(), last.data()) >= 0;
  for (std::size_t k = 0; bounded && k < shape.size(); ++k)
    if (last[k] >= shape[k])
      throw FileError(path,
                      fmt::format("{} takes {} up to {} of {}, which has {} {}: the others would be read as 0", label,
                                  k == 0 ? "rows" : "columns", last[k], name, shape[k], k == 0 ? "rows" : "columns"));
  check_sources(numbers, label, other.path, depth + 1);
}

// Where a name has a block number (%b) or the mapping is unlimited, HDF5 itself gives the dataset the rows that there
// are.
bool is_bounded(const Source& source) {
  return source.count >= 0 && source.file.find("%b") == std::string::npos &&
         source.dataset.find("%b") == std::string::npos;
}

bool has_fill_value(hid_t creation) {
  H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
  return H5Pfill_value_defined(creation, &fill) >= 0 && fill == H5D_FILL_VALUE_USER_DEFINED;
}

void check_virtual(hid_t dataset, hid_t creation, const std::string& label, const std::string& path, int depth) {
  if (depth > kMaxDepth) throw FileError(path, fmt::format("{} is virtual, and its sources are, too deep", label));
  std::size_t count = 0;
  H5Pget_virtual_count(creation, &count);
  hssize_t mapped = 0;
  bool all_bounded = true;
  for (std::size_t k = 0; k < count; ++k) {
    const Handle target(H5Pget_virtual_vspace(creation, k), H5Sclose);
    Source source{file_of_source(creation, k), dataset_of_source(creation, k),
                  Handle(H5Pget_virtual_srcspace(creation, k), H5Sclose), H5Sget_select_npoints(target)};
    all_bounded = all_bounded && is_bounded(source);
    if (!is_bounded(source)) continue;
    mapped += source.count;
    check_source(dataset, source, label, path, depth);
  }
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const hssize_t all = H5Sget_simple_extent_npoints(space);
  if (all_bounded && mapped < all && !has_fill_value(creation))
    throw FileError(
        path, fmt::format("{} has {} numbers, but its sources have {} of them: the others would be read as 0", label,
                          all, mapped));
}

void check_external(hid_t dataset, hid_t creation, const std::string& label, const std::string& path) {
  const Handle space(H5Dget_space(dataset), H5Sclose), type(H5Dget_type(dataset), H5Tclose);
  auto left = std::uint64_t(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type);  // bytes
  const int count = H5Pget_external_count(creation);
  for (int k = 0; k < count && left > 0; ++k) {
    std::string name(4096, '\0');
    off_t offset = 0;
    hsize_t size = 0;
    H5Pget_external(creation, unsigned(k), name.size() - 1, name.data(), &offset, &size);
    name.resize(name.find('\0'));
    const std::string prefix = prefix_of("HDF5_EXTFILE_PREFIX", path);
    const fs::path file = prefix.empty() ? fs::path(name) : fs::path(prefix) / name;
    std::error_code missing;
    const std::uint64_t stored = fs::file_size(file, missing);
    if (missing)
      throw FileError(path, fmt::format("{} has numbers in the file '{}', which cannot be opened", label, name));
    const std::uint64_t here = std::min<std::uint64_t>(size, left), needed = std::uint64_t(offset) + here;
    if (stored < needed)
      throw FileError(path, fmt::format("{} has {} bytes in the file '{}', which has {}: the others would be read as 0",
                                        label, needed, name, stored));
    left -= here;
  }
}

void check_sources(hid_t dataset, const std::string& label, const std::string& path, int depth) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation) == H5D_VIRTUAL) check_virtual(dataset, creation, label, path, depth);
  if (H5Pget_external_count(creation) > 0) check_external(dataset, creation, label, path);
}

// The first source of a virtual dataset that is in another file by a relative path; "" if there is none.
std::string relative_source(hid_t group, const char* name) {
  const Handle dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return "";
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  std::size_t count = 0;
  if (H5Pget_layout(creation) == H5D_VIRTUAL) H5Pget_virtual_count(creation, &count);
  for (std::size_t k = 0; k < count; ++k)
    if (const std::string file = file_of_source(creation, k); file != "." && fs::path(file).is_relative()) return file;
  return "";
}

// What refers to another file by a relative path, for a message: "dataset 'x' has numbers in"; and that file.
struct Reference {
  std::string what, file;
};

herr_t find_reference(hid_t group, const char* name, const H5L_info_t* link, void* out) {
  Reference& found = *static_cast<Reference*>(out);
  if (link->type == H5L_TYPE_EXTERNAL) {
    const std::string file = file_of_link(group, name);
    found = {fmt::format("link '{}' refers to", name), fs::path(file).is_relative() ? file : ""};
  } else if (H5O_info_t info; link->type == H5L_TYPE_HARD &&
                              H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
                              info.type == H5O_TYPE_DATASET) {
    found = {fmt::format("dataset '{}' has numbers in", name), relative_source(group, name)};
  }
  return found.file.empty() ? 0 : 1;  // 1 ends the visit
}

bool is_one_folder(const std::string& a, const std::string& b) {
  std::error_code unknown;
  const auto folder = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path), unknown).parent_path();
  };
  return folder(a) == folder(b);
}

}  // namespace

void check_sources(hid_t dataset, const std::string& label, const std::string& path) {
  check_sources(dataset, label, path, 0);
}

std::string file_of_link(hid_t group, const std::string& name) {
  H5L_info_t link;
  if (H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_EXTERNAL) return "";
  std::string value(link.u.val_size, '\0');
  const char *file = nullptr, *object = nullptr;
  if (H5Lget_val(group, name.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0 ||
      H5Lunpack_elink_val(value.data(), value.size(), nullptr, &file, &object) < 0)
    return "";
  return file;
}

void check_copy_of_hdf5(const std::string& from, const std::string& to) {
  if (is_one_folder(from, to)) return;
  const Silence silence;
  const Handle file(H5Fopen(from.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) fail_in_hdf5(from, "it cannot be opened as HDF5");
  Reference found;
  if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, find_reference, &found) > 0)
    throw FileError(from, fmt::format("{} the file '{}', which {} would not find: write into the folder of the file",
                                      found.what, found.file, to));
}

}  // namespace nbcc
