// Passes LAMMPS's commands, atoms and neighbour list to an Interaction, and adds its results to LAMMPS's forces,
// energies and virials. Requests a full neighbour list, so that each rank computes the complete force on its own atoms,
// with newton on and off; ghosts act but get no forces.
#include "bindings/lammps/plugin/pair_nbcc.h"

#include <atom.h>
#include <comm.h>
#include <error.h>
#include <force.h>
#include <input.h>
#include <library.h>
#include <memory.h>
#include <neigh_list.h>
#include <neighbor.h>
#include <update.h>
#include <variable.h>

#include <array>
#include <cstring>
#include <exception>

namespace LAMMPS_NS {

using nbcc_lammps::Pairs;
using nbcc_lammps::Quantity;

PairNbcc::PairNbcc(LAMMPS* lammps) : Pair(lammps) {
  single_enable = 0;
  restartinfo = 0;
  writedata = 0;
  // The virial as the sum of x . f over atoms and ghosts would need forces on ghosts; it is computed by pair instead.
  no_virial_fdotr_compute = 1;
}

PairNbcc::~PairNbcc() {
  if (!allocated) return;
  memory->destroy(setflag);
  memory->destroy(cutsq);
}

// Converts exceptions to errors of LAMMPS. everywhere: all ranks fail together (error->all), else this rank
// (error->one).
template <typename Body>
void PairNbcc::guarded(bool everywhere, const Body& body) {
  std::string message;
  try {
    body();
    return;
  } catch (const std::exception& refused) {
    message = std::string("pair_style nbcc: ") + refused.what();
  }
  if (everywhere) error->all(FLERR, message);
  error->one(FLERR, message);
}

void PairNbcc::allocate() {
  allocated = 1;
  const int n = atom->ntypes + 1;
  memory->create(setflag, n, n, "pair:setflag");
  memory->create(cutsq, n, n, "pair:cutsq");
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) setflag[i][j] = 0;
}

void PairNbcc::settings(int count, char** words) {
  if (count < 1 || count % 2 == 0) error->all(FLERR, "pair_style nbcc takes a cutoff, and then words in pairs");
  cutoff_ = utils::numeric(FLERR, words[0], false, lmp);
  if (!(cutoff_ > 0)) error->all(FLERR, std::string("pair_style nbcc: the cutoff must be positive, got ") + words[0]);
  where_ = {};
  where_.threads = comm->nthreads;
  device_ = "cpu";
  special_is_coul_ = false;
  for (int k = 1; k < count; k += 2) {
    const std::string name = words[k], value = words[k + 1];
    if (name == "device") {
      device_ = value;
    } else if (name == "threads") {
      where_.threads = utils::inumeric(FLERR, words[k + 1], false, lmp);
    } else if (name == "precision" && (value == "single" || value == "mixed" || value == "double")) {
      where_.precision = value == "single" ? NBCC_SINGLE : value == "mixed" ? NBCC_MIXED : NBCC_DOUBLE;
    } else if (name == "special" && (value == "lj" || value == "coul")) {
      special_is_coul_ = value == "coul";
    } else {
      error->all(
          FLERR,
          "pair_style nbcc knows device NAME, precision single|mixed|double, threads N and special lj|coul, got " +
              name + " " + value);
    }
  }
}

// Opens the device and the pipeline. On device cuda the ranks use the GPUs round robin.
void PairNbcc::open(const std::string& file) {
  where_.device = device_;
  if (device_ == "cuda") {
    int gpus = 0;
    nbcc_error* why = nullptr;
    const nbcc_status status = nbcc_cuda_count(&gpus, &why);
    nbcc::detail::check(status, why);
    where_.device = "cuda:" + std::to_string(comm->me % gpus);
  }
  interaction_ = std::make_unique<nbcc_lammps::Interaction>(file, where_);
}

void PairNbcc::coeff(int count, char** words) {
  if (count < 3) error->all(FLERR, "pair_coeff of pair_style nbcc takes two types, and a file or NAME=VALUE");
  if (!allocated) allocate();
  int i_low = 0, i_high = 0, j_low = 0, j_high = 0;
  utils::bounds(FLERR, words[0], 1, atom->ntypes, i_low, i_high, error);
  utils::bounds(FLERR, words[1], 1, atom->ntypes, j_low, j_high, error);
  guarded(true, [&] {
    int next = 2;
    const bool names_a_file = !std::strchr(words[2], '=');
    if (names_a_file) {
      if (interaction_ && interaction_->path() != words[2])
        throw std::runtime_error(std::string("one style takes one file, got ") + words[2] + " behind " +
                                 interaction_->path() + "; pair_style hybrid takes several styles");
      if (!interaction_) open(words[2]);
      next = 3;
    }
    if (!interaction_) throw std::runtime_error("the first pair_coeff names the file of the formula");
    for (; next < count; ++next) {
      const std::string word = words[next];
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw std::runtime_error("expected NAME=VALUE, got " + word);
      const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
      if (names_a_file) {
        interaction_->assign(name, value);
        continue;
      }
      const double number = utils::numeric(FLERR, value, false, lmp);
      for (int i = i_low; i <= i_high; ++i)
        for (int j = j_low; j <= j_high; ++j) interaction_->set_element(name, i - 1, j - 1, number);
    }
  });
  int pairs = 0;
  for (int i = i_low; i <= i_high; ++i) {
    for (int j = std::max(j_low, i); j <= j_high; ++j, ++pairs) setflag[i][j] = 1;
  }
  if (pairs == 0) error->all(FLERR, "pair_coeff of pair_style nbcc names no pair of types");
}

void PairNbcc::init_style() {
  if (!interaction_) error->all(FLERR, "pair_style nbcc has no pair_coeff that names the file of a formula");
  neighbor->add_request(this, NeighConst::REQ_FULL);
  is_listed_ = false;
  guarded(true, [&] {
    interaction_->check(atom->ntypes);
    follow_variables();
    collect_quantities();
    if (interaction_->quantities().contains("v") && !comm->ghost_velocity)
      throw std::runtime_error("the formula reads velocities: say comm_modify vel yes, so that ghosts have theirs");
  });
  guarded(false, [&] { interaction_->check_reach(cutoff_, atom->nlocal); });
}

double PairNbcc::init_one(int i, int j) {
  if (!setflag[i][j])
    error->all(FLERR, "pair_style nbcc: no pair_coeff for types " + std::to_string(i) + " and " + std::to_string(j));
  return cutoff_;
}

void PairNbcc::follow_variables() {
  for (const auto& [param, variable] : interaction_->followed()) {
    const int found = input->variable->find(variable.c_str());
    if (found < 0) throw std::runtime_error("there is no variable '" + variable + "' for the param '" + param + "'");
    if (!input->variable->equalstyle(found))
      throw std::runtime_error("variable '" + variable + "' for the param '" + param + "' is not of style equal");
    interaction_->set(param, {input->variable->compute_equal(found)});
  }
}

void PairNbcc::collect_quantities() {
  for (auto& [name, array] : interaction_->quantities()) array = quantity(name);
}

// The current array of a quantity for all atoms, owned atoms and ghosts.
Quantity PairNbcc::quantity(const std::string& name) {
  const std::size_t all = std::size_t(atom->nlocal + atom->nghost);
  if (name == "type") {
    types_.resize(std::max<std::size_t>(all, 1));
    for (std::size_t k = 0; k < all; ++k) types_[k] = atom->type[k] - 1;
    return {types_.data(), NBCC_INT32, 1, sizeof(int)};
  }
  if (name == "mass" && !atom->rmass) {
    if (!atom->mass) throw std::runtime_error("the atoms have no mass yet");
    masses_.resize(std::max<std::size_t>(all, 1));
    for (std::size_t k = 0; k < all; ++k) masses_[k] = atom->mass[atom->type[k]];
    return {masses_.data(), NBCC_DOUBLE_ELEMENT, 1, sizeof(double)};
  }
  const std::string known = name == "mass" ? "rmass" : name;
  static constexpr double kNothing[4] = {};
  void* const array = atom->extract(known.c_str());
  if (!array && all > 0)
    throw std::runtime_error("atoms of style " + std::string(atom->atom_style) + " have no " + name);
  const int kind = atom->extract_datatype(known.c_str());
  const nbcc_element element = kind == LAMMPS_INT || kind == LAMMPS_INT_2D       ? NBCC_INT32
                               : kind == LAMMPS_INT64 || kind == LAMMPS_INT64_2D ? NBCC_INT64
                                                                                 : NBCC_DOUBLE_ELEMENT;
  const std::int64_t bytes = element == NBCC_INT32 ? 4 : 8;
  if (kind == LAMMPS_DOUBLE_2D || kind == LAMMPS_INT_2D || kind == LAMMPS_INT64_2D) {
    const int columns = atom->extract_size(known.c_str(), LMP_SIZE_COLS);
    void* const rows = array ? *static_cast<void**>(array) : nullptr;
    return {rows ? rows : kNothing, element, columns, columns * bytes};
  }
  return {array ? array : kNothing, element, 1, bytes};
}

// Converts LAMMPS's neighbour list. The highest bits of a neighbour select the pair's factor of special_bonds; unless
// the formula reads these factors itself, the pairs with each factor form a separate list.
void PairNbcc::list_pairs() {
  const double* const chosen = special_is_coul_ ? force->special_coul : force->special_lj;
  const bool by_formula = interaction_->weighs_pairs();
  std::vector<Pairs> lists(by_formula ? 1 : 4);
  for (std::size_t kind = 0; kind < lists.size(); ++kind) {
    lists[kind].weight = kind == 0 ? 1 : chosen[kind];
    lists[kind].first.assign(std::size_t(atom->nlocal) + 1, 0);
  }
  // Atoms that are not in the list, for example those that pair_style hybrid gives to other styles, have no pairs.
  std::vector<int> row(std::size_t(atom->nlocal), -1);
  std::size_t max_pairs = 0;
  for (int k = 0; k < list->inum; ++k) {
    row[std::size_t(list->ilist[k])] = list->ilist[k];
    max_pairs += std::size_t(list->numneigh[list->ilist[k]]);
  }
  lists[0].j.reserve(max_pairs);
  for (int i = 0; i < atom->nlocal; ++i) {
    const int count = row[std::size_t(i)] < 0 ? 0 : list->numneigh[i];
    for (int k = 0; k < count; ++k) {
      const int entry = list->firstneigh[i][k];
      const std::size_t kind = std::size_t(sbmask(entry));
      Pairs& to = lists[by_formula || chosen[kind] == 1 || kind == 0 ? 0 : kind];
      if (!by_formula && kind > 0 && chosen[kind] == 0) continue;
      to.j.push_back(entry & NEIGHMASK);
      if (by_formula) {
        to.special_lj.push_back(kind == 0 ? 1 : force->special_lj[kind]);
        to.special_coul.push_back(kind == 0 ? 1 : force->special_coul[kind]);
      }
    }
    for (Pairs& one : lists) one.first[std::size_t(i) + 1] = std::int64_t(one.j.size());
  }
  interaction_->set_pairs(std::move(lists));
  is_listed_ = true;
}

void PairNbcc::compute(int eflag, int vflag) {
  ev_init(eflag, vflag);
  guarded(false, [&] {
    follow_variables();
    collect_quantities();
    if (neighbor->ago == 0 || !is_listed_) list_pairs();
    add_results(interaction_->run(atom->nlocal, atom->nlocal + atom->nghost, vflag_either != 0), eflag_either);
  });
}

void PairNbcc::add_results(const nbcc_lammps::Results& results, int with_energy) {
  const auto add = [n = std::size_t(atom->nlocal)](double** to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < 3; ++c) to[i][c] += from[3 * i + c];
  };
  add(atom->f, results.force);
  if (interaction_->has_result("torque")) {
    if (!atom->torque) throw std::runtime_error("atoms of style " + std::string(atom->atom_style) + " have no torque");
    add(atom->torque, results.torque);
  }
  for (int i = 0; with_energy && interaction_->has_result("energy") && i < atom->nlocal; ++i) {
    if (eflag_global) eng_vdwl += results.energy[std::size_t(i)];
    if (eflag_atom) eatom[i] += results.energy[std::size_t(i)];
  }
  for (int i = 0; vflag_either && i < atom->nlocal; ++i) {
    for (int c = 0; c < 6; ++c) {
      const double one = results.virial[std::size_t(6 * i + c)];
      if (vflag_global) virial[c] += one;
      if (vflag_atom) vatom[i][c] += one;
    }
  }
}

}  // namespace LAMMPS_NS
