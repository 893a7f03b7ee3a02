// Bodies -> an HDF5 file as GADGET-2 and its successors write them (V. Springel, User guide for GADGET-2, section 6).
#include "examples/nbody/snapshot.h"

#include <hdf5.h>

#include <numeric>

#include "examples/support/failure.h"
#include "examples/support/replace_file.h"

namespace examples {
namespace {

// Closes what it holds; what could not be opened is an error.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw UsageError("HDF5 refuses");
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void require(herr_t status) {
  if (status < 0) throw UsageError("HDF5 refuses");
}

void attribute(hid_t group, const char* name, hid_t type, const void* values, hsize_t count) {
  const Handle space(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle written(H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require(H5Awrite(written, type, values));
}

void dataset(hid_t group, const char* name, hid_t type, const void* values, hsize_t rows, hsize_t width) {
  const hsize_t shape[2] = {rows, width};
  const Handle space(H5Screate_simple(width == 1 ? 1 : 2, shape, nullptr), H5Sclose);
  const Handle written(H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  require(H5Dwrite(written, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
}

void write_header(hid_t file, std::int64_t count, double time) {
  const Handle header(H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  const auto n = std::uint32_t(count);
  const std::uint32_t counts[6] = {0, n, 0, 0, 0, 0}, high[6] = {0, std::uint32_t(count >> 32), 0, 0, 0, 0};
  const double zero = 0, masses[6] = {};
  const std::int32_t none = 0, one = 1;
  attribute(header, "NumPart_ThisFile", H5T_NATIVE_UINT32, counts, 6);
  attribute(header, "NumPart_Total", H5T_NATIVE_UINT32, counts, 6);
  attribute(header, "NumPart_Total_HighWord", H5T_NATIVE_UINT32, high, 6);
  attribute(header, "MassTable", H5T_NATIVE_DOUBLE, masses, 6);
  attribute(header, "Time", H5T_NATIVE_DOUBLE, &time, 1);
  attribute(header, "NumFilesPerSnapshot", H5T_NATIVE_INT32, &one, 1);
  for (const char* name : {"Redshift", "BoxSize", "Omega0", "OmegaLambda", "HubbleParam"})
    attribute(header, name, H5T_NATIVE_DOUBLE, &zero, 1);
  for (const char* name : {"Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals", "Flag_Feedback"})
    attribute(header, name, H5T_NATIVE_INT32, &none, 1);
}

void write(const std::string& path, const Bodies& bodies, double time) {
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  write_header(file, bodies.count(), time);
  const Handle group(H5Gcreate2(file, "PartType1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  const auto n = hsize_t(bodies.count());
  std::vector<std::uint64_t> ids(bodies.mass.size());
  std::iota(ids.begin(), ids.end(), 1);
  dataset(group, "Coordinates", H5T_NATIVE_DOUBLE, bodies.x.data(), n, 3);
  dataset(group, "Velocities", H5T_NATIVE_DOUBLE, bodies.v.data(), n, 3);
  dataset(group, "Masses", H5T_NATIVE_DOUBLE, bodies.mass.data(), n, 1);
  dataset(group, "ParticleIDs", H5T_NATIVE_UINT64, ids.data(), n, 1);
  require(H5Fflush(file, H5F_SCOPE_LOCAL));  // closing would not tell that the disk is full
}

}  // namespace

void write_snapshot(const std::string& path, const Bodies& bodies, double time) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its own messages are for programmers
  try {
    replace_file(path, [&](const std::string& draft) { write(draft, bodies, time); });
  } catch (const UsageError&) {
    throw UsageError("cannot write '" + path + "'");
  }
}

}  // namespace examples
