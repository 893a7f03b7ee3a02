// Writes results as datasets and attributes into an existing HDF5 file. The entry points are declared in the header.
#include "particles/files/hdf5/hdf5_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "particles/file_error.h"
#include "particles/files/hdf5/hdf5_objects.h"
#include "particles/run_record.h"

namespace nbcc {
namespace {

Handle open_file(const std::string& file, unsigned mode, const std::string& path) {
  Handle handle(H5Fopen(file.c_str(), mode, H5P_DEFAULT), H5Fclose);
  if (!handle.valid()) fail_in_hdf5(path, "it cannot be opened as HDF5");
  return handle;
}

Handle open_dataset(hid_t group, const std::string& name) {
  return {H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose};
}

// True if the dataset can hold the column: shape (N) or (N, 1) for one component, (N, K) for more, and the same type in
// any byte order.
bool takes(hid_t dataset, const ParticleColumn& column) {
  const Handle space(H5Dget_space(dataset), H5Sclose), type(H5Dget_type(dataset), H5Tclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions != 1 && dimensions != 2) return false;
  hsize_t shape[2] = {0, 1};
  H5Sget_simple_extent_dims(space, shape, nullptr);
  if (shape[0] != hsize_t(column.rows()) || shape[1] != hsize_t(column.components)) return false;
  const hid_t wanted = memory_type(column.type());
  return H5Tget_class(type) == H5Tget_class(wanted) && H5Tget_size(type) == H5Tget_size(wanted) &&
         H5Tget_precision(type) == H5Tget_precision(wanted) &&
         (H5Tget_class(type) != H5T_INTEGER || H5Tget_sign(type) == H5T_SGN_2);
}

// True if a dataset has only numbers, as nbcc writes it: no attributes, chunks, external files or fill value.
bool is_plain(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
  H5Pfill_value_defined(creation, &fill);
  return H5Aget_num_attrs(dataset) == 0 && H5Pget_layout(creation) == H5D_CONTIGUOUS &&
         H5Pget_external_count(creation) == 0 && fill != H5D_FILL_VALUE_USER_DEFINED;
}

// Why a dataset's numbers cannot be overwritten in place; "" if they can.
std::string storage_fault(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
    return "has its numbers in other files, which would be changed";
  for (int k = 0; k < H5Pget_nfilters(creation); ++k) {
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation, unsigned(k), &flags, &values, nullptr, 0, nullptr, nullptr);
    if (filter == H5Z_FILTER_SCALEOFFSET || filter == H5Z_FILTER_NBIT)
      return "is stored by a filter that would take digits off the output";
  }
  return "";
}

// True if an object is in this file, not in another file that a link refers to.
bool is_in(hid_t file, hid_t object) {
  H5O_info_t of_file, of_object;
  return H5Oget_info2(file, &of_file, H5O_INFO_BASIC) >= 0 && H5Oget_info2(object, &of_object, H5O_INFO_BASIC) >= 0 &&
         of_file.fileno == of_object.fileno;
}

// Why an output cannot be written as dataset of the group; "" if it can.
std::string fault_of(hid_t group, const ParticleColumn& column) {
  const char* const name = column.name.c_str();
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return "";
  H5L_info_t link;
  if (H5Lget_info(group, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
    return "is a link to another object, which would be changed";
  H5O_info_t info;
  if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0 || info.type != H5O_TYPE_DATASET)
    return "is no dataset";
  if (info.rc > 1) return "has another name in the file, under which it would be changed as well";
  const Handle dataset = open_dataset(group, column.name);
  if (!dataset.valid()) return "cannot be opened";
  if (const std::string fault = storage_fault(dataset); !fault.empty()) return fault;
  if (takes(dataset, column) || is_plain(dataset)) return "";
  return fmt::format(
      "cannot hold the output, which is ({}{}) {}, and has attributes, chunks or filters that would be lost",
      column.rows(), column.components > 1 ? fmt::format(", {}", column.components) : "", element_name(column.type()));
}

std::optional<std::string> text_of_attribute(hid_t group, const char* key) {
  const Handle attribute(H5Aopen(group, key, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  constexpr std::size_t max_bytes = 1 << 16;
  const bool is_text = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
  if (!is_text || H5Sget_simple_extent_npoints(space) != 1 || H5Tget_size(type) > max_bytes) return std::nullopt;
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return std::nullopt;
  return text.substr(0, text.find('\0'));
}

bool has(hid_t group, const std::string& key) { return H5Aexists(group, key.c_str()) > 0; }

// Why an attribute cannot be written; "" if it can. Existing attributes are replaced only if nbcc wrote them: "made by"
// and "command" in any file of nbcc, all other attributes only in a file with the record of a run that has such keys.
std::string attribute_fault(hid_t group, const std::string& key) {
  if (!has(group, key)) return "";
  const std::optional<std::string> maker = has(group, "made by") ? text_of_attribute(group, "made by") : std::nullopt;
  const bool is_ours = maker && maker->starts_with("nbcc ");
  const bool of_run = has(group, "pipeline") && has(group, "device") && has(group, "arithmetic") &&
                      (!is_key_beside_hash(key) || has(group, "pipeline sha256"));
  if (is_ours && (of_run || key == "made by" || key == "command")) return "";
  return fmt::format("the group's attribute '{}' was not written by nbcc, and would be overwritten", key);
}

// The results of one group.
struct GroupResults {
  Handle group;
  ParticleTable results;
};

// Distributes the rows of the results to the groups, in their order.
std::vector<GroupResults> results_of_groups(hid_t file, const std::string& name, const std::string& path,
                                            const ParticleTable& results) {
  std::vector<Handle> groups = open_groups(file, name, path);
  std::vector<GroupResults> parts;
  if (groups.size() == 1) {
    parts.push_back({std::move(groups[0]), results});
    return parts;
  }
  std::int64_t first = 0;
  for (Handle& group : groups) {
    const std::int64_t rows = rows_of_group(group, path), last = first + rows;
    ParticleTable part;
    part.attributes = results.attributes;
    part.rows = rows;
    for (const ParticleColumn& column : results.columns) {
      if (last > column.rows()) break;
      const auto numbers = [&](const auto& all) {
        const auto begin = all.begin() + first * column.components;
        return ColumnData(std::decay_t<decltype(all)>(begin, begin + rows * column.components));
      };
      part.columns.push_back({column.name, column.components, std::visit(numbers, column.data)});
    }
    parts.push_back({std::move(group), std::move(part)});
    first = last;
  }
  if (first != results.rows)
    throw FileError(path,
                    fmt::format("the groups {} have {} rows, but there are {} results", name, first, results.rows));
  return parts;
}

void check(hid_t file, hid_t group, const std::string& path, const ParticleTable& results) {
  if (!is_in(file, group))
    throw FileError(path, "its group of particles is in another file, which would be changed: update that one");
  for (const ParticleColumn& column : results.columns)
    if (const std::string fault = fault_of(group, column); !fault.empty())
      throw FileError(path, fmt::format("what is called '{}' in it {}", column.name, fault));
  for (const auto& [key, value] : results.attributes)
    if (const std::string fault = attribute_fault(group, key); !fault.empty()) throw FileError(path, fault);
}

// Removes the totals and params of an earlier run, which do not describe the new outputs.
void remove_old_record(hid_t group, const ParticleTable& results) {
  if (results.attributes.empty() || !attribute_fault(group, "pipeline").empty() || !has(group, "pipeline")) return;
  for (int k = H5Aget_num_attrs(group); k-- > 0;) {
    char name[256] = "";
    const auto index = hsize_t(k);
    if (H5Aget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, name, sizeof name, H5P_DEFAULT) < 0) continue;
    const std::string_view key = name;
    if (key.starts_with("total ") || key.starts_with("param ")) H5Adelete(group, name);
  }
}

bool write_column(hid_t group, const ParticleColumn& column) {
  const char* const name = column.name.c_str();
  if (H5Lexists(group, name, H5P_DEFAULT) > 0) {
    Handle dataset = open_dataset(group, column.name);
    if (takes(dataset, column))
      return (column.rows() == 0 ||
              H5Dwrite(dataset, memory_type(column.type()), H5S_ALL, H5S_ALL, H5P_DEFAULT, column.values()) >= 0) &&
             dataset.close();
    if (H5Ldelete(group, name, H5P_DEFAULT) < 0) return false;
  }
  return write_dataset(group, column, false);
}

void write_results(hid_t group, const std::string& path, const ParticleTable& results) {
  for (const ParticleColumn& column : results.columns)
    if (!write_column(group, column)) fail_in_hdf5(path, fmt::format("dataset '{}' cannot be written", column.name));
  remove_old_record(group, results);
  for (const auto& [key, value] : results.attributes) {
    const bool gone = !has(group, key) || H5Adelete(group, key.c_str()) >= 0;
    if (!gone || !write_attribute(group, key, value))
      fail_in_hdf5(path, fmt::format("attribute '{}' cannot be written", key));
  }
}

}  // namespace

void check_update_hdf5(const std::string& path, const std::string& group, const ParticleTable& results) {
  const Silence silence;
  const Handle file = open_file(path, H5F_ACC_RDONLY, path);
  for (const GroupResults& each : results_of_groups(file, group, path, results))
    check(file, each.group, path, each.results);
}

void update_hdf5(const std::string& draft, const std::string& path, const std::string& group,
                 const ParticleTable& results) {
  const Silence silence;
  Handle file = open_file(draft, H5F_ACC_RDWR, path);
  std::vector<GroupResults> parts = results_of_groups(file, group, path, results);
  for (const GroupResults& each : parts) check(file, each.group, path, each.results);
  for (GroupResults& each : parts) {
    write_results(each.group, path, each.results);
    if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0 || !each.group.close()) fail_in_hdf5(path, "it cannot be written");
  }
  if (!file.close()) fail_in_hdf5(path, "it cannot be written");
}

}  // namespace nbcc
