// Reads the i- and the j-particles of a sum from one file, from two, or from several files that are joined.
#pragma once
#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "particles/bind_particles.h"
#include "particles/files/particle_files.h"

namespace nbcc {

struct ParticleSourceOptions {
  std::vector<std::string> i, j;  // paths; several files hold columns of the same particles; empty: the other list
  bool last_wins = false;         // which file's values are taken if files have a column in common: see join_tables.h
  std::string columns, columns_i, columns_j;
  std::vector<std::string> bindings;
  std::string types;
  std::string skip_lines;
  std::string frame;                 // --frame: an index, from 0, or from -1 backwards; "": the file's only frame
  bool all_frames = false;           // --frames
  bool may_have_all_frames = false;  // --frames is declared: messages may name it
  bool all_of_i = false;             // read every column of the i-particles
};

// --i, --j, --last-wins, --columns, --columns-i, --columns-j, --bind, --types, --skip-lines, --frame
void declare_particle_source(CLI::App& app, ParticleSourceOptions& options);
// --frames
void declare_all_frames(CLI::App& app, ParticleSourceOptions& options);

class ParticleSource {
 public:
  // Reads the files; a file that gives both i and j is read once. Of files that name their arrays, only the columns
  // that the fields may be bound to and the ids of the i-particles are read. Of files with several frames, i and j are
  // read from the same frame: the chosen one, or the first of all. Prints doubts about the files to standard error.
  // Throws FileError, UsageError.
  ParticleSource(const ParticleSourceOptions& options, const std::vector<InputField>& fields);
  ParticleSource(const ParticleSource&) = delete;
  ParticleSource& operator=(const ParticleSource&) = delete;

  // The chosen frames, by their index in the file: all with --frames, else one.
  const std::vector<std::size_t>& frames() const { return frames_; }
  std::size_t frame() const { return frame_; }  // the frame that was read last
  // Reads the particles of this frame in place of those read before. Files with one frame only are not read again.
  void read_frame(std::size_t frame);
  // {"frame", "3"} and {"TIMESTEP", "300"}; empty if no file has several frames.
  std::vector<std::pair<std::string, std::string>> frame_attributes() const;

  ParticleSide i() const { return {&i_table_, i_name_}; }
  ParticleSide j() const { return {j_table_ ? &*j_table_ : &i_table_, j_name_}; }
  // Like bind_particles(); prints notes to standard error: the order in which the numbers of a table without names are
  // bound, numbers that are bound to no field, the meaning of a snapshot's smoothing length.
  std::vector<BoundField> bind(const std::vector<InputField>& fields) const;
  // The same without notes.
  std::vector<BoundField> bound_without_notes(const std::vector<InputField>& fields) const {
    return bind_particles(fields, i(), j(), bindings_);
  }

 private:
  struct Side {
    std::vector<ParticleFile> files;
    std::vector<std::string> names;  // for messages
    bool has_frames() const;         // a file has more than one frame
    ParticleTable read(std::size_t frame, bool last_wins) const;
  };
  static Side open(const std::vector<std::string>& paths, ReadOptions options);
  std::vector<std::size_t> choose_frames(const ParticleSourceOptions& options);
  // Throws UsageError if --types gave no type name a number, because the types that are read are numbers.
  void check_types_used(const ColumnChoice& of_i, const ColumnChoice& of_j) const;
  std::string note_of_smoothing(const std::vector<BoundField>& bound) const;

  Side i_side_, j_side_;  // j_side_ is empty if the files of i serve both
  std::vector<std::size_t> frames_;
  std::size_t frame_ = 0;                                // the frame that was read last
  const std::vector<ParticleFrame>* of_file_ = nullptr;  // the frames of a file that has several
  bool last_wins_ = false;
  ParticleTable i_table_;
  std::optional<ParticleTable> j_table_;  // none: i_table_ serves both
  std::string i_name_, j_name_;           // names of the files, for messages
  std::vector<std::string> bindings_;
};

}  // namespace nbcc
