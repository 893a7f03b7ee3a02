// Particle files by name: `read_particles` turns a path into a table, `write_particles` a table into a file.
//
// The format follows from the ending: .npy, .npz, .h5 or .hdf5; everything else is text (.csv is written with
// commas, .tsv with tabs). Read but not written are .xyz, .extxyz, and of LAMMPS .lmp, .lammps and a .data file that
// counts atoms. "-" is standard input, whose format is told from its first bytes, or standard output.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "particles/column_choice.h"
#include "particles/file_error.h"
#include "particles/particle_table.h"

namespace nbcc {

enum class Format { Npy, Npz, Hdf5, Text, Csv, Tsv, Xyz, Lammps };

struct ReadOptions {
  // "id,m,x[3],v[3]": names for the columns of a text table, of the rows of an .xyz file and of the section Atoms, or
  // of a plain array ('_' skips one; a list that names the columns overrides what a text says of them). In a file that
  // names its own arrays (.npz, HDF5, structured .npy) it picks those columns. "name:float" also sets the element type.
  // "" takes what the file says.
  std::string columns;
  // HDF5: the group to read, "" for the root or the only group. A path "file.h5:group" says the same.
  std::string group;
  // Where `columns` is "", of a file that names its own arrays: those that are read. Of texts it leaves out columns of
  // names that nobody asks for.
  ColumnChoice choice{};
  // Names in texts that stand for 0, 1, ...: text_rows.h.
  std::vector<std::string> types{};
  // Of a text table: lines at its beginning that are not looked at.
  std::int64_t skip_lines = 0;
};

struct WriteOptions {
  bool force = false;  // overwrite an existing file
  // "npy", "npz", "h5", "text", "csv" or "tsv"; "" means by the ending, and text on standard output.
  std::string format;
};

// Throws FileError; a fault in `columns` itself is a UsageError.
ParticleTable read_particles(const std::string& path, const ReadOptions& options = {});

// All numbers of a file, row by row. Throws FileError.
struct NumberRows {
  std::vector<double> values;
  std::int64_t rows = 0;
};
NumberRows read_numbers(const std::string& path);

// The whole file appears at once, or not at all. The table's attributes are recorded in it, except in .npy, which
// has no place for them. Throws FileError.
void write_particles(const std::string& path, const ParticleTable& table, const WriteOptions& options = {});

// The results of a run in the file of its particles, or in a copy of it. Whatever is not an output stays as it is: in
// text and .npz byte by byte, in HDF5 object by object.
class ParticleUpdate {
 public:
  // Of `from` ("file.h5:group" too) as it is now. None where `to` is of another format, or it is one that nbcc does not
  // write or that holds a single array.
  static std::optional<ParticleUpdate> of(const std::string& from, const std::string& to, const WriteOptions& options);

  // Throws what write() would throw before it writes.
  void check(const ParticleTable& results) const;
  // The columns, of as many rows as the file has, and the attributes. Throws FileError, also where the file has
  // changed.
  void write(const ParticleTable& results) const;

 private:
  std::string updated(const ParticleTable& results) const;
  void check_unchanged() const;

  std::string from_, group_, to_;
  Format format_{};
  bool force_ = false;
  std::array<std::int64_t, 4> state_{};  // of the file: which it is, its size, when it was written
};

// "file.h5" of "file.h5:group", and any other path as it is.
std::string particle_file_of(const std::string& path);

// Throws what write_particles would throw before it writes: so that a long run need not end in "file exists".
void check_writable(const std::string& path, const WriteOptions& options = {});

}  // namespace nbcc
