// Reads and writes particle files of every format: `read_particles` (path to table), `write_particles` (table to path).
//
// The file name's ending gives the format: .npy, .npz, .h5 or .hdf5; all other endings are text (.csv is written with
// commas, .tsv with tabs). Read but not written are .xyz, .extxyz, LAMMPS data files (.lmp, .lammps, and any text whose
// header counts atoms) and LAMMPS dump files (.lammpstrj, .dump, and any text that begins with "ITEM: TIMESTEP"). "-"
// is standard input, whose format is recognised by its first bytes, or standard output.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "particles/column_choice.h"
#include "particles/file_error.h"
#include "particles/files/text/frames.h"
#include "particles/particle_table.h"

namespace nbcc {

enum class Format { Npy, Npz, Hdf5, Text, Csv, Tsv, Xyz, Lammps, Dump };

struct ReadOptions {
  // "id,m,x[3],v[3]": column names for a text table, the rows of an .xyz file or of the LAMMPS section Atoms, or a
  // plain array; they override names in the file, and '_' skips a number. In a file that names its arrays (.npz, HDF5,
  // structured .npy) the list chooses those columns. "name:float" also sets the element type. "": the file's names.
  std::string columns;
  // HDF5: the group to read; "" for the root or the only group. A path "file.h5:group" also names the group.
  std::string group;
  // Used if `columns` is "". In a file that names its arrays: the columns to read. In text files every column of
  // numbers is read, but a column of type names (H, O) only if it is chosen.
  ColumnChoice choice{};
  // Type names in text files that are read as 0, 1, ...: see text_rows.h.
  std::vector<std::string> types{};
  // Text tables: the number of lines to skip at the beginning.
  std::int64_t skip_lines = 0;
};

struct WriteOptions {
  bool force = false;  // overwrite an existing file
  // "npy", "npz", "h5", "text", "csv" or "tsv"; "": by the file name's ending, text on standard output.
  std::string format;
};

// A particle file that is opened once; its frames may be read in any order. Throws FileError, or UsageError
// if options.columns itself is faulty.
class ParticleFile {
 public:
  ParticleFile(const std::string& path, const ReadOptions& options);
  ParticleFile(ParticleFile&&) noexcept;
  ~ParticleFile();

  // The frames of an .xyz, .extxyz or dump file; empty for a format without frames.
  const std::vector<ParticleFrame>& frames() const;
  // Reads the frame of this index. Without an index the file must not hold several frames.
  ParticleTable read(std::optional<std::size_t> frame = std::nullopt) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns ParticleFile(path, options).read(). Throws FileError, or UsageError if `columns` itself is faulty.
ParticleTable read_particles(const std::string& path, const ReadOptions& options = {});

// Returns all numbers of a file in row-major order. Throws FileError.
struct NumberRows {
  std::vector<double> values;
  std::int64_t rows = 0;
  std::vector<std::string> warnings{};  // as ParticleTable::warnings, with the path
};
NumberRows read_numbers(const std::string& path);

// Writes atomically: the complete file appears, or none. The table's attributes are stored in it, except in .npy, whose
// format has no attributes. Throws FileError.
void write_particles(const std::string& path, const ParticleTable& table, const WriteOptions& options = {});

// Writes the results of a run into the file of its particles, or into a copy of that file. All other data stay
// unchanged: the same bytes in text and .npz, the same objects in HDF5.
class ParticleUpdate {
 public:
  // Prepares an update of the present content of `from` (also "file.h5:group"), to be written to `to`. Nothing if
  // `from` is no regular file, if the formats of the two differ, if nbcc does not write that format, or if it is .npy,
  // which holds only one array.
  static std::optional<ParticleUpdate> of(const std::string& from, const std::string& to, const WriteOptions& options);

  // Throws what write() would throw before it writes anything.
  void check(const ParticleTable& results) const;
  // Writes columns, which must have as many rows as the file, and attributes. Throws FileError, also if the file has
  // changed since of().
  void write(const ParticleTable& results) const;

 private:
  std::string updated(const ParticleTable& results) const;
  void check_unchanged() const;

  std::string from_, group_, to_;
  Format format_{};
  bool force_ = false;
  std::array<std::int64_t, 4> state_{};  // of the file `from`: inode, bytes, modification time (s, ns)
};

// Returns "file.h5" for "file.h5:group"; any other path unchanged.
std::string particle_file_of(const std::string& path);

// Throws what write_particles would throw before it writes, so that a long run does not end with "exists already".
void check_writable(const std::string& path, const WriteOptions& options = {});

}  // namespace nbcc
