// Damages a valid file of every format in every way: cut after each byte, a line dropped or repeated, a row written
// over another, each number of a header off by one, a piece missing. Reading then gives the numbers of the undamaged
// file, or an error that names the file, or (text tables, which state no count of rows) the first rows and a warning
// where the cut is not between two lines.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cctype>
#include <functional>

#include "particles/files/particle_files.h"
#include "tests/support/particle_tables.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using test::error_of;

struct Sample {
  std::string name, bytes;
  bool states_rows = true;  // the file says how many rows it has
};

ReadOptions with_types() {
  ReadOptions options;
  options.types = {"H", "O"};
  return options;
}

// All frames of a file; a file without frames has one table.
struct Content {
  std::vector<ParticleTable> tables;
  std::vector<std::string> errors;  // [frame], "" where there is a table
};

Content content_of(const std::string& path) {
  Content content;
  const auto read = [&](const std::function<ParticleTable()>& table) {
    ParticleTable result;
    content.errors.push_back(error_of([&] { result = table(); }));
    content.tables.push_back(std::move(result));
  };
  std::size_t frames = 1;
  const std::string fault = error_of([&] {
    const ParticleFile file(path, with_types());
    frames = std::max<std::size_t>(file.frames().size(), 1);
    for (std::size_t k = 0; k < frames; ++k) read([&] { return file.read(k); });
  });
  if (!fault.empty()) return {{{}}, {fault}};
  return content;
}

// "" if the columns of `table` are those of `whole`, of which they may have the first rows only.
std::string difference(const ParticleTable& table, const ParticleTable& whole, bool may_be_shorter) {
  if (!table.warnings.empty()) return "";
  if (table.column_names() != whole.column_names()) return "columns " + table.column_names();
  if (table.rows != whole.rows && !(may_be_shorter && table.rows < whole.rows))
    return std::to_string(table.rows) + " rows";
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    const ParticleColumn part = convert(table.columns[k], ElementType::Double),
                         all = convert(whole.columns[k], ElementType::Double);
    const auto &a = std::get<std::vector<double>>(part.data), &b = std::get<std::vector<double>>(all.data);
    if (!std::equal(a.begin(), a.end(), b.begin())) return "other numbers in " + table.columns[k].name;
  }
  for (const char* key : {"xlo xhi", "ylo yhi", "zlo zhi", "boundary"}) {
    const std::string *const is = table.find_attribute(key), *const was = whole.find_attribute(key);
    if (!is != !was || (is && *is != *was)) return std::string("another box: ") + key;
  }
  return "";
}

// What is wrong without a word in a file that was made by damaging `whole`; "" if nothing is.
std::string silent_fault(const std::string& path, const Content& whole, bool may_be_shorter) {
  const Content damaged = content_of(path);
  for (std::size_t k = 0; k < damaged.tables.size(); ++k) {
    const std::string& error = damaged.errors[k];
    if (error.empty()) {
      if (k >= whole.tables.size()) return "a frame more";
      const std::string how = difference(damaged.tables[k], whole.tables[k], may_be_shorter);
      if (!how.empty()) return how;
    } else if (error.find(path) == std::string::npos) {
      return "an error without the file: " + error;
    }
  }
  return "";
}

// A generator of digits (Knuth's MMIX), the same on every machine.
class Digits {
 public:
  std::string number() {
    std::string text = (next() & 1 ? "-" : "") + std::to_string(next() % 90 + 10) + ".";
    for (std::size_t k = next() % 5 + 1; k-- > 0;) text += char('1' + next() % 9);
    return text;
  }
  std::uint64_t next() { return (state_ = state_ * 6364136223846793005u + 1442695040888963407u) >> 33; }

 private:
  std::uint64_t state_ = 63;
};

constexpr int kRows = 6;

std::string row_of_xyz(Digits& digits) {
  const std::string type = digits.next() & 1 ? "H" : "O";
  return type + " " + digits.number() + " " + digits.number() + " " + digits.number() + "\n";
}

std::string xyz(Digits& digits, bool extended) {
  std::string text;
  for (int frame = 0; frame < 2; ++frame) {
    text += std::to_string(kRows) + "\n";
    text += extended ? "Lattice=\"90 0 0 0 90 0 0 0 90\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\n" : "made up\n";
    for (int row = 0; row < kRows; ++row) text += row_of_xyz(digits);
  }
  return text;
}

std::string dump(Digits& digits) {
  std::string text;
  for (int frame = 0; frame < 2; ++frame) {
    text += "ITEM: TIMESTEP\n" + std::to_string(100 * frame) + "\nITEM: NUMBER OF ATOMS\n" + std::to_string(kRows) +
            "\nITEM: BOX BOUNDS pp pp pp\n0 97\n0 98\n0 99\nITEM: ATOMS id type x y z\n";
    for (int row = 0; row < kRows; ++row)
      text += std::to_string(11 + row) + " 1 " + digits.number() + " " + digits.number() + " " + digits.number() + "\n";
  }
  return text;
}

std::string lammps_data(Digits& digits) {
  std::string text = "a data file\n\n" + std::to_string(kRows) +
                     " atoms\n2 atom types\n\n0 97 xlo xhi\n0 98 ylo yhi\n0 99 zlo zhi\n\nMasses\n\n1 12.011\n2 "
                     "1.00794\n\nAtoms # atomic\n\n";
  for (int row = 0; row < kRows; ++row)
    text += std::to_string(11 + row) + " " + std::to_string(1 + row % 2) + " " + digits.number() + " " +
            digits.number() + " " + digits.number() + "\n";
  return text;
}

std::vector<Sample> text_samples() {
  Digits digits;
  return {{"a.xyz", xyz(digits, false)},
          {"a.extxyz", xyz(digits, true)},
          {"a.lammpstrj", dump(digits)},
          {"a.lmp", lammps_data(digits)}};
}

ParticleTable particles() {
  ParticleTable table;
  table.rows = kRows;
  std::vector<std::int64_t> ids;
  std::vector<double> m, x;
  Digits digits;
  for (int row = 0; row < kRows; ++row) {
    ids.push_back(101 + row);
    m.push_back(std::stod(digits.number()));
    for (int c = 0; c < 3; ++c) x.push_back(std::stod(digits.number()) / 3);
  }
  table.columns = {{"id", 1, ids}, {"m", 1, m}, {"x", 3, x}};
  return table;
}

std::vector<Sample> written_samples(const test::ScratchFolder& folder) {
  std::vector<Sample> samples;
  for (const char* name : {"a.npz", "a.h5", "a.txt", "a.csv", "a.tsv"}) {
    write_particles(folder.path(name), particles());
    samples.push_back({name, folder.read(name), name[2] == 'n' || name[2] == 'h'});
  }
  write_particles(folder.path("a.npy"), test::unnamed_table());
  samples.push_back({"a.npy", folder.read("a.npy")});
  folder.write("b.txt", "1.25 2.5 3.75\n-4.5 5.125 6.0625\n");
  samples.push_back({"b.txt", folder.read("b.txt"), false});
  return samples;
}

// Reports the first of the silent faults and how many there are.
class Faults {
 public:
  Faults(const test::ScratchFolder& folder, const Sample& sample)
      : folder_(folder), sample_(sample), whole_(content_of(folder.write(sample.name, sample.bytes))) {
    for (const std::string& error : whole_.errors) EXPECT_EQ(error, "");
  }
  void look_at(const std::string& damaged, const std::string& how, bool may_be_shorter = false) {
    const std::string fault = silent_fault(folder_.write(sample_.name, damaged), whole_, may_be_shorter);
    if (fault.empty()) return;
    if (count_++ == 0) first_ = how + ": " + fault;
  }
  ~Faults() { EXPECT_EQ(count_, 0) << sample_.name << ": " << first_; }

 private:
  const test::ScratchFolder& folder_;
  const Sample& sample_;
  Content whole_;
  std::string first_;
  int count_ = 0;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(DamagedFiles, ACutAfterAnyByteIsNoticed) {
  const test::ScratchFolder folder;
  std::vector<Sample> samples = written_samples(folder);
  for (Sample& sample : text_samples()) samples.push_back(std::move(sample));
  for (const Sample& sample : samples) {
    Faults faults(folder, sample);
    for (std::size_t length = 0; length < sample.bytes.size(); ++length)
      faults.look_at(sample.bytes.substr(0, length), "cut after " + std::to_string(length) + " bytes",
                     !sample.states_rows);
  }
}

TEST(DamagedFiles, ALineDroppedOrRepeatedIsNoticed) {
  const test::ScratchFolder folder;
  for (const Sample& sample : text_samples()) {
    Faults faults(folder, sample);
    const std::vector<std::string> lines = lines_of(sample.bytes);
    for (std::size_t k = 0; k < lines.size(); ++k) {
      std::vector<std::string> fewer = lines, more = lines;
      fewer.erase(fewer.begin() + std::ptrdiff_t(k));
      more.insert(more.begin() + std::ptrdiff_t(k), lines[k]);
      faults.look_at(joined(fewer), "without line " + std::to_string(k + 1));
      faults.look_at(joined(more), "line " + std::to_string(k + 1) + " twice");
    }
  }
}

TEST(DamagedFiles, ARowWrittenOverAnotherIsNoticedByItsId) {
  const test::ScratchFolder folder;
  std::vector<Sample> samples = written_samples(folder);
  for (Sample& sample : text_samples()) samples.push_back(std::move(sample));
  for (const Sample& sample : samples) {
    const bool has_ids = sample.name == "a.lammpstrj" || sample.name == "a.lmp" || sample.name == "a.txt" ||
                         sample.name == "a.csv" || sample.name == "a.tsv";
    if (!has_ids) continue;
    Faults faults(folder, sample);
    std::vector<std::string> lines = lines_of(sample.bytes);
    const auto is_row = [](const std::string& line) {
      return line.size() > 8 && line[0] == '1' && std::isdigit(line[1]);
    };
    for (std::size_t k = 1; k < lines.size(); ++k) {
      if (!is_row(lines[k]) || !is_row(lines[k - 1])) continue;
      std::vector<std::string> other = lines;
      other[k] = lines[k - 1];
      faults.look_at(joined(other), "line " + std::to_string(k) + " over the next");
    }
  }
}

TEST(DamagedFiles, ACountOffByOneIsNoticed) {
  const test::ScratchFolder folder;
  for (const Sample& sample : text_samples()) {
    Faults faults(folder, sample);
    const std::string rows = "\n" + std::to_string(kRows);
    for (const std::string& count : {rows + "\n", rows + " atoms", std::string(":1:"), std::string(":3 ")}) {
      const std::string text = "\n" + sample.bytes;
      for (std::size_t at = 0; (at = text.find(count, at)) != std::string::npos; ++at) {
        const std::size_t digit = at + 1;
        for (const int step : {-1, 1}) {
          std::string other = text;
          other[digit] = char(other[digit] + step);
          faults.look_at(other.substr(1), "another count in byte " + std::to_string(at));
        }
      }
    }
  }
}

// .npz has checksums of its members, and .npy ends with its numbers.
TEST(DamagedFiles, ANumberOffByOneInAHeaderOfNumpyIsNoticed) {
  const test::ScratchFolder folder;
  for (const Sample& sample : written_samples(folder)) {
    if (!sample.name.ends_with(".npz") && !sample.name.ends_with(".npy")) continue;
    Faults faults(folder, sample);
    const bool is_npy = sample.name.ends_with(".npy");
    const std::size_t end = is_npy ? sample.bytes.find('\n') + 1 : sample.bytes.size();
    for (std::size_t at = 0; at < end; ++at) {
      if (is_npy && at > 10 && !std::isdigit(static_cast<unsigned char>(sample.bytes[at]))) continue;
      for (const int step : {-1, 1}) {
        std::string other = sample.bytes;
        other[at] = char(other[at] + step);
        faults.look_at(other, "another byte " + std::to_string(at));
      }
    }
  }
}

// The shape of a dataset, and the bytes that its storage has.
TEST(DamagedFiles, ANumberOffByOneInAShapeOfHdf5IsNoticed) {
  const test::ScratchFolder folder;
  ParticleTable table;
  table.rows = 7;
  table.columns = {{"x", 3, std::vector<double>(21, 0.125)}};
  write_particles(folder.path("a.h5"), table);
  const Sample sample{"a.h5", folder.read("a.h5")};
  Faults faults(folder, sample);
  int found = 0;
  for (const std::uint64_t number : {7, 7 * 3 * 8}) {
    const std::string pattern(reinterpret_cast<const char*>(&number), sizeof number);
    for (std::size_t at = 0; (at = sample.bytes.find(pattern, at)) != std::string::npos; ++at, ++found)
      for (const int step : {-1, 1}) {
        std::string other = sample.bytes;
        other[at] = char(other[at] + step);
        faults.look_at(other, std::to_string(number) + " at byte " + std::to_string(at));
      }
  }
  EXPECT_GE(found, 2);
}

}  // namespace
}  // namespace nbcc
