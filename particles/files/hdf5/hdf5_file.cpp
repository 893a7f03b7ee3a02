// Decodes and encodes HDF5 files. Entry points: read_hdf5(), decode_hdf5(), encode_hdf5(). Writes to memory only.
#include "particles/files/hdf5/hdf5_file.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "particles/file_error.h"
#include "particles/files/hdf5/gadget_names.h"
#include "particles/files/hdf5/hdf5_groups.h"
#include "particles/files/hdf5/hdf5_objects.h"
#include "particles/files/hdf5/hdf5_snapshot.h"
#include "particles/files/hdf5/hdf5_sources.h"
#include "particles/text_words.h"

namespace nbcc {
namespace {

// A dataset may be larger than its stored bytes because of fill values or compression. Above kUnstoredLimit bytes,
// kMaxUnstoredRatio limits size / stored bytes, so that a damaged file does not cause a huge allocation.
constexpr std::uint64_t kUnstoredLimit = 64u << 20;
constexpr std::uint64_t kMaxUnstoredRatio = 2000;

// Reads a string from a dataset or attribute; read(memory type, address) calls H5Dread or H5Aread.
template <class Read>
std::optional<std::string> read_string(hid_t type, Read read) {
  const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_cset(memory, H5Tget_cset(type));
  // HDF5 1.10 does not check the addresses of strings of variable length and crashes on damaged ones; skip them.
  if (H5Tis_variable_str(type) != 0) return std::nullopt;
  // HDF5 limits attributes to 64 KiB; a text beyond 1 MiB in a dataset is not read as an attribute.
  const std::size_t size = H5Tget_size(type);
  if (size > (1u << 20)) return std::nullopt;
  std::string text(size + 1, '\0');
  H5Tset_size(memory, size + 1);
  if (read(memory, text.data()) < 0) return std::nullopt;
  return text.substr(0, text.find('\0'));
}

template <class Read>
std::optional<std::string> read_scalar(hid_t type, Read read) {
  if (H5Tget_class(type) == H5T_STRING) return read_string(type, read);
  ElementType element;
  if (!type_fault(type, element).empty()) return std::nullopt;
  ParticleColumn value{"", 1, make_data(element, 1)};
  if (read(memory_type(element), value.values()) < 0) return std::nullopt;
  return value.first_as_text();
}

// Reads attributes that are a single string or number. Others, such as dimension scales, are ignored.
void read_attributes(hid_t group, ParticleTable& table) {
  H5Aiterate2(
      group, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr,
      [](hid_t parent, const char* name, const H5A_info_t*, void* out) -> herr_t {
        const Handle attribute(H5Aopen(parent, name, H5P_DEFAULT), H5Aclose);
        const Handle space(H5Aget_space(attribute), H5Sclose);
        const Handle type(H5Aget_type(attribute), H5Tclose);
        if (!attribute.valid() || !space.valid() || !type.valid() || H5Sget_simple_extent_npoints(space) != 1) return 0;
        const auto text = read_scalar(type, [&](hid_t memory, void* to) { return H5Aread(attribute, memory, to); });
        if (text) static_cast<ParticleTable*>(out)->attributes.emplace_back(name, *text);
        return 0;
      },
      &table);
}

// An open dataset and its shape [rows, components]; components is 1 for shape (N). `dimensions` is 0 for a single
// value.
struct Dataset {
  Dataset(hid_t group, const std::string& name)
      : handle(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose),
        space(H5Dget_space(handle), H5Sclose),
        type(H5Dget_type(handle), H5Tclose),
        dimensions(H5Sget_simple_extent_ndims(space)) {
    if (dimensions == 1 || dimensions == 2) H5Sget_simple_extent_dims(space, shape, nullptr);
  }
  herr_t read(hid_t memory, void* to) const { return H5Dread(handle, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to); }

  Handle handle, space, type;
  int dimensions;
  hsize_t shape[2] = {0, 1};
};

// Throws FileError if a dataset that is stored as one block has other bytes there than its shape needs.
void check_shape(const Dataset& dataset, const std::string& label, const std::string& path) {
  const Handle creation(H5Dget_create_plist(dataset.handle), H5Pclose);
  const auto stored = std::uint64_t(H5Dget_storage_size(dataset.handle));
  const std::uint64_t size = H5Tget_size(dataset.type), needed = dataset.shape[0] * dataset.shape[1] * size;
  if (H5Pget_layout(creation) == H5D_CONTIGUOUS && H5Pget_external_count(creation) == 0 && stored != 0 &&
      stored != needed)
    throw FileError(path, fmt::format("{} has {} rows of {} numbers of {} bytes, but {} bytes are stored for it", label,
                                      dataset.shape[0], dataset.shape[1], size, stored));
}

ColumnData read_dataset(hid_t group, const std::string& name, const std::string& path) {
  const std::string label = fmt::format("dataset '{}'", name);
  const auto refuse = [&](const std::string& fault) { throw FileError(path, fmt::format("{} {}", label, fault)); };
  const Dataset dataset(group, name);
  if (!dataset.handle.valid()) fail_in_hdf5(path, label + " cannot be opened");
  ElementType element;
  if (const std::string fault = type_fault(dataset.type, element); !fault.empty()) refuse(fault);
  if (dataset.dimensions < 0 || dataset.dimensions > 2)
    refuse(fmt::format("has {} dimensions; particles are (N) or (N, K)", dataset.dimensions));
  const auto& [rows, components] = dataset.shape;
  if (components < 1 || components > 0x7fffffff) refuse(fmt::format("has rows of {} numbers", components));
  std::uint64_t count = 0, bytes = 0;
  const auto stored = static_cast<std::uint64_t>(H5Dget_storage_size(dataset.handle));
  const Handle file(H5Iget_file_id(dataset.handle), H5Fclose);
  hsize_t file_size = 0;
  H5Fget_filesize(file, &file_size);
  if (__builtin_mul_overflow(rows, components, &count) ||
      __builtin_mul_overflow(count, static_cast<std::uint64_t>(element_size(element)), &bytes) ||
      (bytes > kUnstoredLimit && bytes / kMaxUnstoredRatio > std::min<std::uint64_t>(stored, file_size)))
    refuse(fmt::format("claims {} rows of {} numbers, but only {} bytes are stored for it", rows, components, stored));
  check_shape(dataset, label, path);
  check_sources(dataset.handle, label, path);
  ParticleColumn column{name, static_cast<int>(components), make_data(element, count)};
  // Unsigned numbers beyond int64 become negative in the column, and are refused below.
  const bool is_unsigned = element == ElementType::Int64 && H5Tget_sign(dataset.type) == H5T_SGN_NONE;
  const hid_t memory = is_unsigned ? H5T_NATIVE_UINT64 : memory_type(element);
  if (count > 0 && dataset.read(memory, column.values()) < 0) fail_in_hdf5(path, label + " cannot be read");
  if (is_unsigned &&
      std::ranges::any_of(std::get<std::vector<std::int64_t>>(column.data), [](auto n) { return n < 0; }))
    throw BeyondInt64(path, label + " holds unsigned 64-bit integers that do not fit int64; store int64");
  return std::move(column.data);
}

// Reads the group Header of a snapshot, if there is one: its numbers become attributes. Of SWIFT's group HydroScheme
// the name of the kernel is read, which gives SmoothingLengths its meaning.
void read_gadget_header(hid_t file, ParticleTable& notes) {
  if (H5Lexists(file, "Header", H5P_DEFAULT) > 0) {
    const Handle header(H5Gopen2(file, "Header", H5P_DEFAULT), H5Gclose);
    if (header.valid()) read_attributes(header, notes);
  }
  if (H5Lexists(file, "HydroScheme", H5P_DEFAULT) <= 0) return;
  const Handle scheme(H5Gopen2(file, "HydroScheme", H5P_DEFAULT), H5Gclose);
  if (!scheme.valid() || H5Aexists(scheme, kKernelOfSwift) <= 0) return;
  const Handle attribute(H5Aopen(scheme, kKernelOfSwift, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  const auto text = read_scalar(type, [&](hid_t memory, void* to) { return H5Aread(attribute, memory, to); });
  if (text) notes.attributes.emplace_back(kKernelOfSwift, *text);
}

std::vector<FileColumn> columns_of_group(hid_t group, const std::string& path) {
  std::vector<FileColumn> columns;
  for (const Link& link : links_of(group, path)) {
    if (link.type != H5O_TYPE_DATASET) continue;
    const Dataset dataset(group, link.name);
    if (dataset.dimensions == 0) continue;
    ElementType element;
    FileColumn& column = columns.emplace_back();
    column.name = link.name;
    column.components = static_cast<std::int64_t>(dataset.shape[1]);
    column.rows = static_cast<std::int64_t>(dataset.shape[0]);
    const bool is_column = H5Tget_class(dataset.type) != H5T_STRING && dataset.dimensions <= 2;
    column.readable = is_column && type_fault(dataset.type, element).empty();
    column.listed = is_column;
    column.read = [group, &path, link] { return read_dataset(group, link.name, path); };
  }
  for (const Link& link : links_of(group, path)) {
    if (link.type != H5O_TYPE_UNKNOWN) continue;
    FileColumn& column = columns.emplace_back();
    column.name = link.name;
    column.readable = column.listed = false;
    column.read = [group, path, link]() -> ColumnData {
      throw FileError(path, fmt::format("link '{}' refers to the file '{}', in which no such object can be opened",
                                        link.name, file_of_link(group, link.name)));
    };
  }
  return columns;
}

void read_single_values(hid_t group, const std::string& path, const ColumnChoice& choice, ParticleTable& notes) {
  for (const Link& link : links_of(group, path)) {
    if (link.type != H5O_TYPE_DATASET || !choice.takes(link.name)) continue;
    const Dataset dataset(group, link.name);
    if (dataset.dimensions != 0) continue;
    const auto text = read_scalar(dataset.type, [&](hid_t memory, void* to) { return dataset.read(memory, to); });
    if (text) notes.attributes.emplace_back(link.name, *text);
  }
}

ParticleTable read_open_file(const Handle& file, const std::string& path, const std::string& name,
                             const ColumnChoice& choice) {
  if (!file.valid()) fail_in_hdf5(path, "it cannot be opened as HDF5");
  const std::vector<Handle> groups = open_groups(file, name, path);
  ParticleTable notes;
  std::vector<GroupColumns> of_groups;
  bool of_gadget = false, made_by_nbcc = true;
  for (const Handle& group : groups) {
    ParticleTable own;
    read_attributes(group, own);
    read_single_values(group, path, choice, own);
    made_by_nbcc = made_by_nbcc && own.find_attribute("made by");
    if (of_groups.empty()) notes.attributes = std::move(own.attributes);
    GroupColumns& columns = of_groups.emplace_back(name_of(group), columns_of_group(group, path));
    if (const std::optional<int> type = gadget_type(columns.group)) {
      of_gadget = true;
      take_gadget_names(columns.columns);
      take_snapshot_header(file, *type, path, choice, columns.columns);
    }
  }
  if (!made_by_nbcc) std::erase_if(notes.attributes, [](const auto& each) { return each.first == "made by"; });
  if (of_gadget) read_gadget_header(file, notes);
  const bool alone = groups.size() == 1 && of_groups[0].columns.size() == 1 && of_groups[0].columns[0].name == "data" &&
                     datasets_in(links_of(groups[0], path)) == 1;
  std::vector<FileColumn> columns =
      groups.size() == 1 ? std::move(of_groups[0].columns) : join_groups(of_groups, path, notes.absent);
  // Drop text and arrays of more than two dimensions, unless they are chosen: reading them then throws the reason.
  std::erase_if(columns, [&](const FileColumn& c) { return !c.listed && !choice.takes(c.name, c.name_in_file); });
  ParticleTable table = read_columns(columns, choice, alone);
  table.attributes = std::move(notes.attributes);
  table.absent = std::move(notes.absent);
  return table;
}

// File access in memory. `image`: the bytes of an existing file; empty for a new file.
Handle memory_access(std::string_view image) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr std::size_t growth = 1 << 20;
  H5Pset_fapl_core(access, growth, 0);
  // HDF5 copies the image, although its parameter is not const.
  if (!image.empty()) H5Pset_file_image(access, const_cast<char*>(image.data()), image.size());
  return access;
}

}  // namespace

ParticleTable read_hdf5(const std::string& path, const std::string& group, const ColumnChoice& choice) {
  const Silence silence;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return read_open_file(file, path, group, choice);
}

ParticleTable decode_hdf5(std::string_view bytes, const std::string& name, const std::string& group,
                          const ColumnChoice& choice) {
  const Silence silence;
  const Handle access = memory_access(bytes);
  const Handle file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  return read_open_file(file, name, group, choice);
}

std::string encode_hdf5(const ParticleTable& table, const std::string& path) {
  const Silence silence;
  const Handle access = memory_access({});
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(creation, 0);
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose);
  if (!file.valid()) fail_in_hdf5(path, "the HDF5 file cannot be made");
  const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  for (const auto& [key, value] : table.attributes)
    if (!write_attribute(root, key, value)) fail_in_hdf5(path, fmt::format("attribute '{}' cannot be written", key));
  for (const ParticleColumn& column : table.columns)
    if (!write_dataset(root, column, table.unnamed))
      fail_in_hdf5(path, fmt::format("dataset '{}' cannot be written", column.name));
  if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0) fail_in_hdf5(path, "the HDF5 file cannot be made");
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  std::string bytes(static_cast<std::size_t>(std::max<ssize_t>(size, 0)), '\0');
  if (size <= 0 || H5Fget_file_image(file, bytes.data(), bytes.size()) != size)
    fail_in_hdf5(path, "the HDF5 file cannot be made");
  return bytes;
}

}  // namespace nbcc
