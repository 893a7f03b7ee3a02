// `nbcc run --update` on HDF5 files of nbcc's to which others have added: groups, attributes, types, filters and links
// stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <map>
#include <string>
#include <vector>

#include "particles/files/particle_files.h"
#include "tests/support/random_source.h"
#include "tests/support/update_cases.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;

// Closes what a test opens.
struct Id {
  Id(hid_t id, herr_t (*close)(hid_t)) : id(id), close(close) {}
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id() {
    if (id >= 0) close(id);
  }
  operator hid_t() const { return id; }
  hid_t id;
  herr_t (*close)(hid_t);
};

std::string bytes_of_type(hid_t type) {
  std::size_t size = 0;
  H5Tencode(type, nullptr, &size);
  std::string bytes(size, '\0');
  H5Tencode(type, bytes.data(), &size);
  return bytes;
}

std::string shape_of(hid_t space) {
  std::string text = std::to_string(H5Sget_simple_extent_type(space)) + ":";
  hsize_t shape[8], most[8];
  const int dimensions = H5Sget_simple_extent_dims(space, shape, most);
  for (int d = 0; d < dimensions; ++d) text += std::to_string(shape[d]) + "/" + std::to_string(most[d]) + " ";
  return text;
}

// The numbers as they are stored, or of texts of variable length the characters.
template <class Read>
std::string values_of(hid_t type, hid_t space, Read read) {
  const auto count = std::size_t(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0));
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(count, nullptr);
    std::string all;
    if (count > 0) read(texts.data());
    for (char* text : texts) all += std::string(text ? text : "") + "\n";
    if (count > 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
    return all;
  }
  std::string bytes(count * H5Tget_size(type), '\0');
  if (count > 0) read(bytes.data());
  return bytes;
}

using Contents = std::map<std::string, std::string>;

void add_attributes(hid_t object, const std::string& path, Contents& contents) {
  for (int k = 0; k < H5Aget_num_attrs(object); ++k) {
    const Id attribute(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, hsize_t(k), H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose);
    const Id type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    char name[200] = "";
    H5Aget_name(attribute, sizeof name, name);
    contents[path + "@" + name] =
        bytes_of_type(type) + shape_of(space) + values_of(type, space, [&](void* to) { H5Aread(attribute, type, to); });
  }
}

void add_contents(hid_t group, const std::string& path, Contents& contents) {
  add_attributes(group, path, contents);
  H5G_info_t info;
  H5Gget_info(group, &info);
  for (hsize_t k = 0; k < info.nlinks; ++k) {
    char name[200] = "", value[200] = "";
    H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
    H5L_info_t link;
    H5Lget_info(group, name, &link, H5P_DEFAULT);
    const std::string where = path + "/" + name;
    if (link.type != H5L_TYPE_HARD) {
      H5Lget_val(group, name, value, sizeof value, H5P_DEFAULT);
      contents[where] = "link " + std::to_string(link.type) + std::string(value, link.u.val_size);
      continue;
    }
    const Id object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_GROUP) {
      contents[where] = "group";
      add_contents(object, where, contents);
    } else if (kind == H5I_DATATYPE) {
      contents[where] = "type " + bytes_of_type(object);
      add_attributes(object, where, contents);
    } else {
      const Id type(H5Dget_type(object), H5Tclose), space(H5Dget_space(object), H5Sclose);
      const Id creation(H5Dget_create_plist(object), H5Pclose);
      std::string how = std::to_string(H5Pget_layout(creation)) + " " + std::to_string(H5Pget_nfilters(creation)) + " ";
      for (int f = 0; f < H5Pget_nfilters(creation); ++f) {
        unsigned flags = 0, config = 0, values[8] = {};
        std::size_t count = 8;
        how += std::to_string(H5Pget_filter2(creation, unsigned(f), &flags, &count, values, 0, nullptr, &config)) +
               ":" + std::to_string(values[0]) + " ";
      }
      hsize_t chunk[4] = {};
      if (H5Pget_layout(creation) == H5D_CHUNKED) H5Pget_chunk(creation, 4, chunk);
      for (const hsize_t length : chunk) how += std::to_string(length) + " ";
      contents[where] =
          "dataset " + bytes_of_type(type) + shape_of(space) + how +
          values_of(type, space, [&](void* to) { H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to); });
      add_attributes(object, where, contents);
    }
  }
}

Contents hdf5_contents(const std::string& path) {
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  Contents contents;
  add_contents(root, "", contents);
  return contents;
}

// A type of numbers, text or records.
hid_t random_type(RandomSource& random) {
  hid_t type = H5Tcopy(
      random.pick<hid_t>({H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I64BE, H5T_STD_U64LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE}));
  switch (random.below(5)) {
    case 0: {
      const hid_t record = H5Tcreate(H5T_COMPOUND, 16);
      H5Tinsert(record, "a", 0, H5T_STD_I32LE);
      H5Tinsert(record, "b", 8, type);
      H5Tclose(type);
      return record;
    }
    case 1: {
      H5Tclose(type);
      type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, random.chance(50) ? H5T_VARIABLE : std::size_t(7));
      return type;
    }
    case 2:
      if (H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 1) {
        const hid_t truth = H5Tenum_create(type);
        std::int8_t value = 0;
        H5Tenum_insert(truth, "FALSE", &value);
        value = 1;
        H5Tenum_insert(truth, "TRUE", &value);
        H5Tclose(type);
        return truth;
      }
      return type;
    default:
      return type;
  }
}

std::string random_values(RandomSource& random, hid_t type, std::size_t count, std::vector<const char*>& texts) {
  if (H5Tis_variable_str(type) > 0) {
    texts.assign(count, "of the user");
    return {};
  }
  std::string bytes;
  while (bytes.size() < count * H5Tget_size(type)) bytes += char(random.below(2));
  return bytes;
}

void add_attribute(RandomSource& random, hid_t object, const std::string& name) {
  const Id type(random_type(random), H5Tclose);
  const hsize_t length = hsize_t(random.between(1, 3));
  const Id space(random.chance(50) ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, nullptr), H5Sclose);
  const Id attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  std::vector<const char*> texts;
  const std::string bytes = random_values(random, type, 3, texts);
  H5Awrite(attribute, type, texts.empty() ? static_cast<const void*>(bytes.data()) : texts.data());
}

void add_dataset(RandomSource& random, hid_t group, const std::string& name, hsize_t rows) {
  const Id type(random_type(random), H5Tclose);
  const int dimensions = random.between(0, 3);
  const hsize_t shape[3] = {rows, 2, 2}, most[3] = {H5S_UNLIMITED, 2, 2}, chunk[3] = {4, 1, 2};
  const Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool chunked = dimensions > 0 && random.chance(50);
  if (chunked) {
    H5Pset_chunk(creation, dimensions, chunk);
    if (random.chance(50)) H5Pset_shuffle(creation);
    if (random.chance(50)) H5Pset_deflate(creation, unsigned(random.between(1, 9)));
  }
  const Id space(
      dimensions == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(dimensions, shape, chunked ? most : nullptr),
      H5Sclose);
  const Id dataset(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
  std::vector<const char*> texts;
  const std::string bytes = random_values(random, type, std::size_t(4 * rows + 1), texts);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
           texts.empty() ? static_cast<const void*>(bytes.data()) : texts.data());
  for (int k = random.below(3); k > 0; --k) add_attribute(random, dataset, "note" + std::to_string(k));
}

// What people add to a file of ours.
void add_theirs(RandomSource& random, const std::string& path, hsize_t rows) {
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  for (int k = random.below(4); k > 0; --k) add_attribute(random, file, "their note " + std::to_string(k));
  for (int k = random.below(4); k > 0; --k) add_dataset(random, file, "their" + std::to_string(k), rows);
  for (int k = random.below(3); k > 0; --k) {
    const Id group(H5Gcreate2(file, ("group" + std::to_string(k)).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Gclose);
    add_attribute(random, group, "unit");
    for (int n = random.below(3); n > 0; --n) add_dataset(random, group, "set" + std::to_string(n), rows);
    if (random.chance(50)) add_dataset(random, group, "rho", rows);
  }
  if (random.chance(30)) H5Lcreate_soft("/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  if (random.chance(30)) H5Lcreate_external("elsewhere.h5", "/x", file, "external", H5P_DEFAULT, H5P_DEFAULT);
  if (random.chance(30)) H5Lcreate_hard(file, "m", file, "mass", H5P_DEFAULT, H5P_DEFAULT);
  if (random.chance(30))
    H5Tcommit2(file, "number", Id(random_type(random), H5Tclose), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (const char* name : {"x", "rho", "m"})
    if (random.chance(40) && H5Lexists(file, name, H5P_DEFAULT) > 0)
      add_attribute(random, Id(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose), "unit");
}

TEST(UpdateHdf5, KeepsWhatIsNoOutput) {
  const UpdateShell shell;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  int made = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSource random(seed);
    ASSERT_EQ(shell.nbcc("make-ic plummer --n 20 -o a.h5 --force").code, 0);
    const bool twice = random.chance(60);
    if (twice) {
      ASSERT_TRUE(shell.update("a.h5"));
    }
    add_theirs(random, shell.path("a.h5"), 20);
    const Contents before = hdf5_contents(shell.path("a.h5"));
    if (!shell.update("a.h5")) continue;
    ++made;
    Contents after = hdf5_contents(shell.path("a.h5"));
    for (const auto& [name, content] : before) {
      const bool is_ours = name == "@command" || name == "/near" || name == "/rho" || name == "/acc";
      if (!is_ours) {
        EXPECT_EQ(after[name], content) << name;
      }
    }
    EXPECT_EQ(after.count("/near") + after.count("/rho") + after.count("/acc"), 3u);
    EXPECT_TRUE(shell.update("a.h5"));
    EXPECT_EQ(hdf5_contents(shell.path("a.h5")), after);
    if (HasFailure()) return;
  }
  EXPECT_GE(made, 20);
}

}  // namespace
}  // namespace nbcc::test
