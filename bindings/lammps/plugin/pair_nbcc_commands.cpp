// The commands pair_style and pair_coeff, and restart files, of PairNbcc. Entry points: settings(), coeff(),
// write_restart(), read_restart(). Sums nothing.
#include <atom.h>
#include <comm.h>
#include <error.h>
#include <force.h>
#include <memory.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "bindings/lammps/plugin/pair_nbcc.h"

namespace LAMMPS_NS {

void PairNbcc::allocate() {
  allocated = 1;
  const int n = atom->ntypes + 1;
  memory->create(setflag, n, n, "pair:setflag");
  memory->create(cutsq, n, n, "pair:cutsq");
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) setflag[i][j] = 0;
}

// The coefficients stay if the style is given again, as in LAMMPS's styles.
void PairNbcc::settings(int count, char** words) {
  record_.settings.assign(words, words + count);
  apply_settings(record_.settings);
  if (!interaction_) return;
  guarded(true, [&] { open(record_.path, record_.text); });
  repeat(std::exchange(record_.coeffs, {}));
}

// The text stays the one that was read first.
void PairNbcc::repeat(const std::vector<std::vector<std::string>>& coeffs) {
  for (const std::vector<std::string>& words : coeffs) apply_coeff(words, false);
}

void PairNbcc::apply_settings(const std::vector<std::string>& words) {
  if (words.size() % 2 == 0)
    error->all(FLERR, "pair_style nbcc takes a cutoff, and then words in pairs, as precision mixed; got " +
                          (words.empty() ? "nothing" : "'" + words.back() + "' without a partner"));
  cutoff_ = utils::numeric(FLERR, words[0], false, lmp);
  if (!(cutoff_ > 0)) error->all(FLERR, "pair_style nbcc: the cutoff must be positive, got " + words[0]);
  where_ = {};
  where_.threads = comm->nthreads;
  device_ = "cpu";
  special_is_coul_ = false;
  checks_forces_ = true;
  pairs_ = "auto";
  for (std::size_t k = 1; k < words.size(); k += 2) {
    const std::string &name = words[k], &value = words[k + 1];
    if (name == "device") {
      device_ = value;
    } else if (name == "threads") {
      where_.threads = utils::inumeric(FLERR, value, false, lmp);
    } else if (name == "precision" && (value == "single" || value == "mixed" || value == "double")) {
      where_.precision = value == "single" ? NBCC_SINGLE : value == "mixed" ? NBCC_MIXED : NBCC_DOUBLE;
    } else if (name == "special" && (value == "lj" || value == "coul")) {
      special_is_coul_ = value == "coul";
    } else if (name == "check" && (value == "yes" || value == "no")) {
      checks_forces_ = value == "yes";
    } else if (name == "pairs" && (value == "auto" || value == "search" || value == "lists")) {
      pairs_ = value;
    } else {
      error->all(FLERR,
                 "pair_style nbcc knows device NAME, precision single|mixed|double, threads N, special lj|coul, check "
                 "yes|no and pairs auto|search|lists, got " +
                     name + " " + value);
    }
  }
}

// Opens the device and the pipeline. On device cuda the ranks use the GPUs round robin.
void PairNbcc::open(const std::string& file, const std::string& text) {
  where_.device = device_;
  if (device_ == "cuda") {
    int gpus = 0;
    nbcc_error* why = nullptr;
    const nbcc_status status = nbcc_cuda_count(&gpus, &why);
    nbcc::detail::check(status, why);
    where_.device = "cuda:" + std::to_string(comm->me % gpus);
  }
  interaction_ = std::make_unique<nbcc_lammps::Interaction>(file, text, where_);
  given_ = {};
  record_.path = file;
  record_.text = text;
}

// Rank 0 reads the file, so that all ranks have the same text, or fail together.
std::string PairNbcc::read_everywhere(const std::string& path, const std::string& what) {
  std::string text;
  std::int64_t size = 0;  // negative: minus the number of the system's error
  if (comm->me == 0) {
    std::error_code none;
    errno = std::filesystem::is_directory(path, none) ? EISDIR : 0;
    std::ifstream in;
    if (errno == 0) in.open(path, std::ios::binary);
    if (in.is_open()) {
      text.assign(std::istreambuf_iterator<char>(in), {});
      size = std::int64_t(text.size());
    } else {
      size = errno == 0 ? -EIO : -errno;
    }
  }
  MPI_Bcast(&size, 1, MPI_INT64_T, 0, world);
  if (size < 0) {
    std::error_code none;
    throw std::runtime_error("cannot read " + what + " " + path + ": " + std::generic_category().message(int(-size)) +
                             " (LAMMPS runs in " + std::filesystem::current_path(none).string() + ")");
  }
  text.resize(std::size_t(size));
  MPI_Bcast(text.data(), int(size), MPI_CHAR, 0, world);
  return text;
}

void PairNbcc::coeff(int count, char** words) { apply_coeff({words, words + count}, true); }

void PairNbcc::apply_coeff(std::vector<std::string> words, bool checks_text) {
  if (words.size() < 3) error->all(FLERR, "pair_coeff of pair_style nbcc takes two types, and a file or NAME=VALUE");
  if (!allocated) allocate();
  int i_low = 0, i_high = 0, j_low = 0, j_high = 0;
  utils::bounds(FLERR, words[0], 1, atom->ntypes, i_low, i_high, error);
  utils::bounds(FLERR, words[1], 1, atom->ntypes, j_low, j_high, error);
  if (j_high < i_low)  // as in LAMMPS's styles, pairs are those with i <= j
    error->all(FLERR, "pair_coeff of pair_style nbcc names no pair of types: J must be at least I, got " + words[0] +
                          " " + words[1]);
  const nbcc_lammps::TypeRange types{i_low, i_high, j_low, j_high, words[0] + " " + words[1]};
  guarded(true, [&] {
    std::size_t next = 2;
    const bool names_a_file = words[2].find('=') == std::string::npos;
    if (nbcc_lammps::numbers_in(words[2]))
      throw std::runtime_error("pair_coeff " + words[0] + " " + words[1] +
                               ": expected a .pipe file or NAME=VALUE, got the number " + words[2] +
                               "; numbers have names, as epsilon=" + words[2]);
    if (names_a_file) {
      if (interaction_ && record_.path != words[2])
        throw std::runtime_error("one style takes one file, got " + words[2] + " behind " + record_.path +
                                 "; pair_style hybrid takes several styles");
      if (!interaction_)
        open(words[2], read_everywhere(words[2], "the pipeline"));
      else if (checks_text && read_everywhere(words[2], "the pipeline") != record_.text)
        throw std::runtime_error("the text of " + words[2] +
                                 " has changed since it was read (by a restart file's run, or by this one): say "
                                 "pair_style none, and then pair_style nbcc, to use the new text");
      next = 3;
    }
    if (!interaction_) throw std::runtime_error("the first pair_coeff names the file of the formula");
    bool mixes = false;
    for (; next < words.size(); ++next) {
      std::string& word = words[next];
      if (names_a_file && word == "mix") {
        mixes = true;
        continue;
      }
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw std::runtime_error("expected NAME=VALUE, got " + word);
      const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
      if (mixes) {
        given_.give("mix " + name, value, types);
        interaction_->mix(name, value);
      } else if (names_a_file) {
        if (value.starts_with('@')) word = name + "=" + read_everywhere(value.substr(1), "the numbers in");
        const std::string given = word.substr(equals + 1);
        const bool is_output = interaction_->is_output(name);
        given_.give(is_output ? "OUTPUT=" + given : name, is_output ? name : given, types);
        interaction_->assign(name, given);
        are_variables_known_ = false;
      } else {
        const auto numbers = nbcc_lammps::numbers_in(value);
        if (!numbers || numbers->size() != 1 || !std::isfinite(numbers->front()))
          throw std::runtime_error("pair_coeff " + types.words + ": '" + name + "' takes one finite number, got '" +
                                   value + "'");
        const double number = numbers->front();
        for (int i = i_low; i <= i_high; ++i)
          for (int j = std::max(j_low, i); j <= j_high; ++j) interaction_->set_element(name, i - 1, j - 1, number);
      }
    }
  });
  // Without hybrid the style computes the pairs of all types.
  if (checks_text && force->pair == this) guarded(true, [&] { interaction_->check_types(atom->ntypes); });
  for (int i = i_low; i <= i_high; ++i)
    for (int j = std::max(j_low, i); j <= j_high; ++j) setflag[i][j] = 1;
  record_.coeffs.push_back(std::move(words));
}

// LAMMPS calls the functions that write on rank 0. It calls the functions that read on all ranks; rank 0 has the file.
void PairNbcc::write(FILE* file, const nbcc_lammps::CoeffRecord& record) {
  const std::string bytes = nbcc_lammps::bytes_of(record);
  const std::uint64_t size = bytes.size();
  if (fwrite(&size, sizeof size, 1, file) != 1 || fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
    error->one(FLERR, "pair_style nbcc: cannot write to the restart file");
}

nbcc_lammps::CoeffRecord PairNbcc::read(FILE* file) {
  std::uint64_t size = 0;
  if (comm->me == 0) utils::sfread(FLERR, &size, sizeof size, 1, file, nullptr, error);
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, world);
  constexpr std::uint64_t kMaxBytes = 1 << 30;  // of a record; more are no record
  if (size > kMaxBytes) error->all(FLERR, "pair_style nbcc: the restart file has no data of this pair style");
  std::string bytes(std::size_t(size), ' ');
  if (comm->me == 0) utils::sfread(FLERR, bytes.data(), 1, bytes.size(), file, nullptr, error);
  MPI_Bcast(bytes.data(), int(size), MPI_CHAR, 0, world);
  nbcc_lammps::CoeffRecord record;
  guarded(true, [&] { record = nbcc_lammps::record_of(bytes); });
  return record;
}

void PairNbcc::write_restart(FILE* file) {
  record_.mix = std::size_t(mix_flag);
  write(file, record_);
}

// pair_style hybrid: LAMMPS then asks for all pair_coeff again.
void PairNbcc::write_restart_settings(FILE* file) {
  write(file, {record_.settings, "", "", {}, std::size_t(mix_flag)});
}

void PairNbcc::read_restart(FILE* file) {
  const nbcc_lammps::CoeffRecord record = read(file);
  record_ = {record.settings, "", "", {}, record.mix};
  mix_flag = int(record.mix);
  apply_settings(record_.settings);
  if (record.path.empty()) return;
  guarded(true, [&] { open(record.path, record.text); });
  repeat(record.coeffs);
}

void PairNbcc::read_restart_settings(FILE* file) {
  record_ = read(file);
  mix_flag = int(record_.mix);
  apply_settings(record_.settings);
}

}  // namespace LAMMPS_NS
