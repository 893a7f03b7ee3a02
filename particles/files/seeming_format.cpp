// Recognises formats that nbcc does not read. Entry points: foreign_format(), looks_like_xyz(). Input: the beginning of
// a file; output: a message. Opens no files and decodes nothing.
#include "particles/files/seeming_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "particles/text_words.h"

namespace nbcc {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxBytes = 1 << 16;  // of the beginning of a text that are looked at

struct Known {
  const char *name, *readers;  // "PDB", "MDAnalysis or ASE reads"
};

constexpr const char* kMdAndAse = "MDAnalysis or ASE reads it";
constexpr const char* kMd = "MDAnalysis reads it";
constexpr const char* kAse = "ASE reads it";
constexpr const char* kUnpack = "unpack it first";

struct Magic {
  std::size_t at;
  std::string_view bytes;
  Known format;
};

constexpr Magic kMagics[] = {
    {0, "\x1f\x8b"sv, {"gzip data", kUnpack}},
    {0, "BZh"sv, {"bzip2 data", kUnpack}},
    {0, "\xfd\x37zXZ"sv, {"xz data", kUnpack}},
    {0, "\x28\xb5\x2f\xfd"sv, {"zstd data", kUnpack}},
    {4, "CORD"sv, {"DCD", kMd}},
    {4, "VELD"sv, {"DCD", kMd}},
    {0, "\0\0\x07\xcb"sv, {"XTC of GROMACS", kMd}},
    {0, "\0\0\x07\xe7"sv, {"XTC of GROMACS", kMd}},
    {0, "\0\0\x07\xc9"sv, {"TRR of GROMACS", kMd}},
    {0, "\xdf\x65\xdf\x65\xdf\x65\xdf\x65"sv, {"GSD of HOOMD-blue", kMd}},
    {0, "CDF\x01"sv, {"NetCDF, as of AMBER", kMdAndAse}},
    {0, "CDF\x02"sv, {"NetCDF, as of AMBER", kMdAndAse}},
    {0, "CDF\x05"sv, {"NetCDF, as of AMBER", kMdAndAse}},
    {0, "SIMPLE  ="sv, {"FITS", "astropy reads it"}},
    {0, "\0\x01\0\0"sv, {"GADGET's binary format", "GADGET writes HDF5 with SnapFormat=3, and pynbody or yt reads it"}},
    {0,
     "\x08\0\0\0HEAD"sv,
     {"GADGET's binary format", "GADGET writes HDF5 with SnapFormat=3, and pynbody or yt reads it"}},
    {0, "LammpS RestartT"sv, {"a restart file of LAMMPS", "write_data of LAMMPS makes a data file of it"}},
    {8, "DUMPATOM"sv, {"a binary dump of LAMMPS", "binary2txt of LAMMPS makes a text of it"}},
    {8, "DUMPCUSTOM"sv, {"a binary dump of LAMMPS", "binary2txt of LAMMPS makes a text of it"}},
    {0, "PAR1"sv, {"Parquet", "pandas reads it"}},
    {0, "\x80\x04\x95"sv, {"a pickle of Python", "numpy.savez writes .npz"}},
    {0, "\x80\x05\x95"sv, {"a pickle of Python", "numpy.savez writes .npz"}},
    {0, "@<TRIPOS>"sv, {"MOL2", kMd}},
    {0, "# vtk DataFile"sv, {"VTK", "meshio or PyVista reads it"}},
    {0, "<VTKFile"sv, {"VTK", "meshio or PyVista reads it"}},
    {0, "<?xml"sv, {"XML", "a program that knows its kind reads it"}},
    {0, "%VERSION"sv, {"a topology of AMBER", kMd}},
    {0, "PSF"sv, {"PSF, a topology of CHARMM", kMd}},
};

// A file of items: a magic number of two bytes, in the order of either kind of machine, the item's type, which is one
// letter or parenthesis, and its name (src/kernel/io/filesecret.h of NEMO).
bool is_nemo(std::string_view bytes) {
  if (bytes.size() < 4 || bytes[3] != '\0') return false;
  const std::string_view magic = bytes.substr(0, 2);
  return (magic == "\x92\x09"sv || magic == "\x92\x0b"sv || magic == "\x09\x92"sv || magic == "\x0b\x92"sv) &&
         "abcsilhfd("sv.find(bytes[2]) != std::string_view::npos;
}

bool is_at(std::string_view bytes, const Magic& magic) {
  return bytes.size() >= magic.at && bytes.substr(magic.at).starts_with(magic.bytes);
}

std::vector<std::string_view> first_lines(std::string_view bytes, std::size_t count) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < bytes.size() && lines.size() < count;) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = bytes.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

// True if `count` fields of `width` characters from `first` on hold one number each.
bool has_numbers(std::string_view line, std::size_t first, std::size_t width, std::size_t count) {
  if (line.size() < first + width * count) return false;
  for (std::size_t k = 0; k < count; ++k) {
    const std::string_view field = trimmed(line.substr(first + k * width, width));
    if (field.empty() || !is_number(field)) return false;
  }
  return true;
}

bool is_pdb(const std::vector<std::string_view>& lines) {
  return std::ranges::any_of(lines, [](std::string_view line) {
    return (line.starts_with("ATOM  ") || line.starts_with("HETATM")) && has_numbers(line, 30, 8, 3);
  });
}

bool is_cif(const std::vector<std::string_view>& lines) {
  const auto is_comment = [](std::string_view line) { return trimmed(line).empty() || line.starts_with('#'); };
  const auto first = std::ranges::find_if_not(lines, is_comment);
  return first != lines.end() && first->starts_with("data_");
}

// A title, the number of atoms, rows of fixed columns: residue, its name, atom, its number, three coordinates.
bool is_gro(const std::vector<std::string_view>& lines) {
  std::int64_t count = 0;
  return lines.size() > 2 && read_digits(trimmed(lines[1]), count) == std::errc() && has_numbers(lines[2], 0, 5, 1) &&
         has_numbers(lines[2], 15, 5, 1) && has_numbers(lines[2], 20, 8, 3);
}

bool is_sdf(const std::vector<std::string_view>& lines) {
  return lines.size() > 3 && (lines[3].ends_with("V2000") || lines[3].ends_with("V3000"));
}

bool is_poscar(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename();
  return name.starts_with("POSCAR") || name.starts_with("CONTCAR") || file.extension() == ".vasp";
}

std::string message(const Known& format) {
  const bool has_page = std::string_view(format.readers) != kUnpack;
  return fmt::format("it looks like {}, which nbcc does not read; {}{}", format.name, format.readers,
                     has_page ? ": see the page 'Arrays from MDAnalysis, ASE, h5py, astropy'" : "");
}

}  // namespace

std::string foreign_format(std::string_view bytes, const std::string& path) {
  bytes = bytes.substr(0, kMaxBytes);
  for (const Magic& magic : kMagics)
    if (is_at(bytes, magic)) return message(magic.format);
  if (is_nemo(bytes))
    return "it looks like a snapshot of NEMO, which nbcc does not read; s2a of NEMO makes a text of it: s2a in=FILE "
           "out=bodies.txt write=mxv rformat=%.17g, to be read with --columns 'm,x[3],v[3]'";
  if (bytes.find('\0') != std::string_view::npos) return "";
  const std::vector<std::string_view> lines = first_lines(bytes, 1000);
  if (is_pdb(lines)) return message({"PDB", kMdAndAse});
  const bool of_molecules = bytes.find("\n_atom_site.") != std::string_view::npos;
  if (is_cif(lines)) return of_molecules ? message({"mmCIF", "gemmi reads it"}) : message({"CIF", kAse});
  if (is_gro(lines)) return message({"GRO of GROMACS", kMdAndAse});
  if (is_sdf(lines)) return message({"SDF", kAse});
  if (is_poscar(path)) return message({"POSCAR of VASP", kAse});
  if (trimmed(bytes.substr(0, 1)) == "{") return message({"JSON", "Python reads it"});
  return "";
}

bool looks_like_xyz(std::string_view bytes) {
  const std::vector<std::string_view> lines = first_lines(bytes.substr(0, kMaxBytes), 3);
  std::int64_t count = 0;
  if (lines.size() < 3 || read_digits(trimmed(lines[0]), count) != std::errc()) return false;
  const std::vector<Word> words = words_in(lines[2]);
  return words.size() >= 4 && !is_number(words[0].text) &&
         std::all_of(words.begin() + 1, words.begin() + 4, [](const Word& word) { return is_number(word.text); });
}

}  // namespace nbcc
