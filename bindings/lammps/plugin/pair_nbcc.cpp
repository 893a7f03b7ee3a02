// Passes LAMMPS's commands, atoms and neighbour list to an Interaction, and adds its results to LAMMPS's forces,
// energies and virials. On GPUs nbcc searches for the pairs where it can, because a list of millions of pairs would be
// converted and sent each time that LAMMPS makes it. Elsewhere the style requests a half neighbour list if the formula
// can be computed for both atoms of a pair at once; with newton on the results of ghosts then belong to their owners.
// Otherwise it requests a full list, so that each rank computes the complete force on its own atoms; ghosts act but get
// no forces.
#include "bindings/lammps/plugin/pair_nbcc.h"

#include <atom.h>
#include <comm.h>
#include <compute.h>
#include <error.h>
#include <force.h>
#include <input.h>
#include <library.h>
#include <memory.h>
#include <modify.h>
#include <neigh_list.h>
#include <neighbor.h>
#include <update.h>
#include <variable.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace LAMMPS_NS {

using nbcc_lammps::Pairs;
using nbcc_lammps::Quantity;

PairNbcc::PairNbcc(LAMMPS* lammps) : Pair(lammps) {
  writedata = 0;
  // The virial as the sum of x . f over atoms and ghosts would need forces on ghosts; it is computed by pair instead.
  no_virial_fdotr_compute = 1;
}

PairNbcc::~PairNbcc() {
  if (!allocated) return;
  memory->destroy(setflag);
  memory->destroy(cutsq);
}

// In hybrid these words may be meant for another style.
void PairNbcc::check_modifiers() {
  const char* const word = offset_flag ? "shift" : tail_flag ? "tail" : nullptr;
  if (!word) return;
  throw std::runtime_error("pair_modify " + std::string(word) + " yes has no meaning for a formula: write the " +
                           (offset_flag ? "offset" : "cutoff") + " into it, and say pair_modify " + word +
                           " no (hybrid: pair_modify pair STYLE " + word + " yes names a style)");
}

void PairNbcc::init_style() {
  if (update->whichflag == 1 && utils::strmatch(update->integrate_style, "^respa"))
    error->all(FLERR, "pair_style nbcc: run_style respa is not supported; use run_style verlet");
  if (!interaction_) error->all(FLERR, "pair_style nbcc has no pair_coeff that names the file of a formula");
  is_listed_ = is_reach_checked_ = false;
  warns_of_old_values_ = true;
  acts_.assign(std::size_t(atom->ntypes) + 1, std::vector<bool>(std::size_t(atom->ntypes) + 1, false));
  guarded(true, [&] {
    check_modifiers();
    interaction_->check(atom->ntypes, nbcc_lammps::MixRule(mix_flag));
    check_special_bonds();
    for (const auto& [param, variable] : interaction_->followed()) variable_of(param, variable);
    choose_pairs();
    // Half lists are summed by one thread.
    is_half_ = !searches_ && where_.threads == 1 && interaction_->takes_half_lists();
    collect_quantities();
    if (interaction_->quantities().contains("v") && !comm->ghost_velocity)
      throw std::runtime_error("the formula reads velocities: say comm_modify vel yes, so that ghosts have theirs");
  });
  if (!interaction_->has_result("energy") && comm->me == 0)
    error->warning(FLERR, "pair_style nbcc: no output of " + interaction_->path() +
                              " is the energy, so the energy of its pairs counts as 0");
  // check_forces() alone reads the list of a style that searches.
  neighbor->add_request(this, searches_  ? NeighConst::REQ_FULL | NeighConst::REQ_OCCASIONAL
                              : is_half_ ? NeighConst::REQ_DEFAULT
                                         : NeighConst::REQ_FULL);
}

std::string PairNbcc::why_lists() const {
  if (force->pair != this) return "pair_style hybrid gives each style a part of the pairs";
  if (interaction_->weighs_pairs()) return "the formula reads factors of special_bonds";
  const double* const factors = special_is_coul_ ? force->special_coul : force->special_lj;
  if (atom->molecular != Atom::ATOMIC && std::any_of(factors + 1, factors + 4, [](double f) { return f != 1; }))
    return "special_bonds gives pairs of bonded atoms factors other than 1";
  if (neighbor->nex_type + neighbor->nex_group + neighbor->nex_mol > 0) return "neigh_modify exclude leaves out pairs";
  if (neighbor->includegroup != 0) return "neigh_modify include leaves out pairs";
  return "";
}

// A fix may exclude pairs after init_style() has chosen, as fix gcmc does.
void PairNbcc::check_search() const {
  if (const std::string why = why_lists(); !why.empty())
    throw std::runtime_error("the pairs cannot be searched for: " + why + "; say pairs lists");
}

void PairNbcc::choose_pairs() {
  const std::string why = why_lists();
  const bool wants = pairs_ == "search" || (pairs_ == "auto" && where_.device != "cpu");
  searches_ = wants && why.empty();
  if (!wants || searches_) return;
  if (pairs_ == "search") throw std::runtime_error("pairs search is not possible: " + why + "; say pairs lists");
  if (comm->me == 0)
    utils::logmesg(lmp,
                   "pair_style nbcc: takes the pairs of LAMMPS's neighbour lists, which costs more than to search on "
                   "the GPU: " +
                       why + "\n");
}

double PairNbcc::init_one(int i, int j) {
  if (!setflag[i][j])
    error->all(FLERR, "pair_style nbcc: no pair_coeff for types " + std::to_string(i) + " and " + std::to_string(j));
  acts_[std::size_t(i)][std::size_t(j)] = acts_[std::size_t(j)][std::size_t(i)] = true;
  return cutoff_;
}

// LAMMPS's neighbour lists do not have the pairs whose factors are both 0, except with kspace_style (Neighbor::init).
// LAMMPS keeps them for some of its own pair styles as well (coul/wolf in hybrid); the refusal is not needed then.
void PairNbcc::check_special_bonds() {
  if (!interaction_->weighs_pairs() || atom->molecular == Atom::ATOMIC || force->kspace) return;
  for (int kind = 1; kind <= 3; ++kind) {
    if (force->special_lj[kind] != 0 || force->special_coul[kind] != 0) continue;
    const std::string name = "1-" + std::to_string(kind + 1);
    throw std::runtime_error("the factors of special_bonds for " + name +
                             " pairs, lj and coul, are both 0, so LAMMPS removes these pairs from the neighbour list "
                             "and the formula, which reads the factors, would not see them: say 1e-100 in place of 0 "
                             "for one of them, as special_bonds lj 1e-100 ...");
  }
}

int PairNbcc::variable_of(const std::string& param, const std::string& variable) {
  const int found = input->variable->find(variable.c_str());
  if (found < 0) throw std::runtime_error("there is no variable '" + variable + "' for the param '" + param + "'");
  if (!input->variable->equalstyle(found))
    throw std::runtime_error("variable '" + variable + "' for the param '" + param + "' is not of style equal");
  return found;
}

// Returns true if the reach of the formula may have changed. Variables are evaluated in compute() alone: before a run
// LAMMPS evaluates no compute, and evaluation is collective, which single() is not.
bool PairNbcc::follow_variables() {
  are_variables_known_ = true;
  if (interaction_->followed().empty()) return false;
  const int before = interaction_->params_number();
  // A compute that was evaluated after the forces of the last step, for thermo output, would return its value of then.
  modify->clearstep_compute();
  for (const auto& [param, variable] : interaction_->followed()) {
    const double value = input->variable->compute_equal(variable_of(param, variable));
    if (!std::isfinite(value))
      throw std::runtime_error("variable '" + variable + "' for the param '" + param + "' is " +
                               (std::isnan(value) ? "nan"
                                : value > 0       ? "inf"
                                                  : "-inf") +
                               " at step " + std::to_string(update->ntimestep) + ", expected a finite number");
    check_energies_unread(param, variable);
    interaction_->set(param, {value});
  }
  modify->addstep_compute(update->ntimestep + 1);
  return interaction_->params_number() != before && interaction_->is_reach_followed();
}

// The energies and virials of this step do not exist before compute() returns.
void PairNbcc::check_energies_unread(const std::string& param, const std::string& variable) {
  for (int k = 0; k < modify->ncompute; ++k) {
    const Compute& compute = *modify->compute[k];
    if (!compute.invoked_flag || !(compute.peflag || compute.peatomflag || compute.pressflag || compute.pressatomflag))
      continue;
    throw std::runtime_error("variable '" + variable + "' for the param '" + param + "' reads compute " + compute.id +
                             " (" + compute.style +
                             "), an energy or pressure that this step does not have before its forces: read the value "
                             "of the step before by fix ave/time 1 1 1 c_" +
                             compute.id);
  }
}

// Neighbour lists have the pairs up to the cutoff; the atoms themselves may have changed their reach.
void PairNbcc::check_reach(bool has_followed_reach_changed) {
  using Test = nbcc_lammps::Interaction::ReachTest;
  const Test test = !is_reach_checked_ || has_followed_reach_changed ? Test::Everything
                    : neighbor->ago == 0                             ? Test::NewList
                                                                     : Test::Step;
  if (test == Test::Step && !interaction_->is_reach_of_atoms()) return;
  std::string why;  // of this rank
  try {
    interaction_->check_reach(cutoff_, {atom->nlocal, atom->nlocal + atom->nghost, atom->type, acts_}, test);
  } catch (const std::exception& refused) {
    why = refused.what();
  }
  is_reach_checked_ = true;
  throw_everywhere(why);
}

// Throws on all ranks if `why` is not empty on one; an error of one rank alone aborts the others, and its message may
// get lost.
void PairNbcc::throw_everywhere(std::string why) {
  const int mine = why.empty() ? comm->nprocs : comm->me;
  int first = mine;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world);
  if (first == comm->nprocs) return;
  int size = int(why.size());
  MPI_Bcast(&size, 1, MPI_INT, first, world);
  why.resize(std::size_t(size));
  MPI_Bcast(why.data(), size, MPI_CHAR, first, world);
  throw std::runtime_error(why);
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
  return array_of(name);
}

Quantity PairNbcc::array_of(const std::string& name) {
  const std::size_t all = std::size_t(atom->nlocal + atom->nghost);
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

// Two rows: of the atoms, with types and a distance that pair_write chooses without regard to them.
Quantity PairNbcc::of_two(const std::string& name, const std::array<int, 2>& atoms, const std::array<int, 2>& types,
                          double rsq) {
  std::vector<std::byte>& rows = of_two_[name];
  const auto put = [&rows]<typename T>(const std::vector<T>& values) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    rows.assign(bytes, bytes + values.size() * sizeof(T));
  };
  if (name == "type") {
    put(std::vector<int>{types[0] - 1, types[1] - 1});
    return {rows.data(), NBCC_INT32, 1, sizeof(int)};
  }
  if (name == "mass" && !atom->rmass && atom->mass) {
    put(std::vector<double>{atom->mass[types[0]], atom->mass[types[1]]});
    return {rows.data(), NBCC_DOUBLE_ELEMENT, 1, sizeof(double)};
  }
  // fix gcmc gives -1 for an atom that it tries to insert.
  const bool are_here = std::min(atoms[0], atoms[1]) >= 0 && std::max(atoms[0], atoms[1]) < atom->nlocal + atom->nghost;
  if (name == "x") {
    std::vector<double> x(6, 0.0);
    double found = 0;
    for (std::size_t c = 0; c < 3 && are_here; ++c) {
      for (std::size_t k = 0; k < 2; ++k) x[3 * k + c] = atom->x[atoms[k]][c];
      found += (x[c] - x[3 + c]) * (x[c] - x[3 + c]);
    }
    if (std::abs(found - rsq) > 1e-12 * rsq) x = {std::sqrt(rsq), 0, 0, 0, 0, 0};
    put(x);
    return {rows.data(), NBCC_DOUBLE_ELEMENT, 3, 3 * sizeof(double)};
  }
  Quantity found = array_of(name);
  if (!are_here)
    throw std::runtime_error("the formula reads " + name +
                             ", but a single pair was requested of atoms that this rank " + "does not have");
  const std::size_t bytes = std::size_t(found.columns) * (found.element == NBCC_INT32 ? 4 : 8);
  rows.resize(2 * bytes);
  for (std::size_t k = 0; k < 2; ++k)
    std::memcpy(rows.data() + k * bytes, static_cast<const std::byte*>(found.data) + atoms[k] * found.stride, bytes);
  found.data = rows.data();
  found.stride = std::int64_t(bytes);
  return found;
}

// The values of variables are those of the last step: single() is called on some ranks alone, and evaluation needs all.
void PairNbcc::check_variables_known() {
  if (interaction_->followed().empty()) return;
  const auto& [param, variable] = *interaction_->followed().begin();
  if (!are_variables_known_)
    throw std::runtime_error("param '" + param + "' follows variable '" + variable +
                             "', which is evaluated at each step of a run: say run 0 before commands that need single "
                             "pairs");
  if (update->whichflag != 0 || !warns_of_old_values_) return;
  error->warning(FLERR, "pair_style nbcc: single pairs have the values of variables, as v_" + variable +
                            " for the param " + param + ", that the last step of a run had");
  warns_of_old_values_ = false;
}

double PairNbcc::single(int i, int j, int itype, int jtype, double rsq, double factor_coul, double factor_lj,
                        double& fforce) {
  double energy = 0;
  guarded(false, [&] {
    check_variables_known();
    std::map<std::string, Quantity> quantities;
    for (const auto& [name, array] : interaction_->quantities())
      quantities[name] = of_two(name, {i, j}, {itype, jtype}, rsq);
    const nbcc_lammps::OfPair pair = interaction_->of_pair(quantities, factor_lj, factor_coul);
    const double factor = interaction_->weighs_pairs() ? 1 : special_is_coul_ ? factor_coul : factor_lj;
    fforce = factor * pair.force_over_r;
    energy = factor * pair.energy;
  });
  return energy;
}

// A style that searches tells for which atoms; another one converts LAMMPS's neighbour list. The highest bits of a
// neighbour select the pair's factor of special_bonds; unless the formula reads these factors itself, the pairs with
// each factor form a separate list.
void PairNbcc::list_pairs() {
  is_listed_ = true;
  if (searches_) {
    has_row_.clear();
    interaction_->search_pairs(atom->nlocal, neighbor->skin);
    return;
  }
  const double* const chosen = special_is_coul_ ? force->special_coul : force->special_lj;
  const bool by_formula = interaction_->weighs_pairs();
  // Rows of half lists are of all atoms, because ghosts have results; their rows are empty.
  const int rows = is_half_ ? atom->nlocal + atom->nghost : atom->nlocal;
  std::vector<Pairs> lists(by_formula ? 1 : 4);
  for (std::size_t kind = 0; kind < lists.size(); ++kind) {
    lists[kind].weight = kind == 0 ? 1 : chosen[kind];
    lists[kind].first.assign(std::size_t(rows) + 1, 0);
  }
  // Atoms that are not in the list, for example those that pair_style hybrid gives to other styles, have no pairs.
  std::vector<int> row(std::size_t(rows), -1);
  std::size_t max_pairs = 0;
  for (int k = 0; k < list->inum; ++k) {
    row[std::size_t(list->ilist[k])] = list->ilist[k];
    max_pairs += std::size_t(list->numneigh[list->ilist[k]]);
  }
  lists[0].j.reserve(max_pairs);
  for (int i = 0; i < rows; ++i) {
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
  has_row_.clear();
  if (interaction_->has_finish())
    for (const int i : row) has_row_.push_back(i >= 0);
  interaction_->set_pairs(std::move(lists), is_half_);
}

void PairNbcc::compute(int eflag, int vflag) {
  ev_init(eflag, vflag);
  bool has_followed_reach_changed = false;
  guarded(true, [&] { has_followed_reach_changed = follow_variables(); });
  guarded(false, [&] { collect_quantities(); });
  const bool is_first_step = !is_reach_checked_;
  if (is_first_step && searches_) guarded(true, [&] { check_search(); });
  guarded(true, [&] { check_reach(has_followed_reach_changed); });
  if (is_first_step && checks_forces_ && interaction_->has_result("energy")) guarded(true, [&] { check_forces(); });
  guarded(false, [&] {
    if (neighbor->ago == 0 || !is_listed_) list_pairs();
    const int all = atom->nlocal + atom->nghost;
    add_results(interaction_->run(is_half_ ? all : atom->nlocal, all, vflag_either != 0), eflag_either);
  });
}

// If newton is on, LAMMPS adds the forces, energies and virials of ghosts to their owners; if newton is off, the owners
// have the same pairs in their own lists. finish() may give results to atoms without pairs, and so to atoms that are
// not in the list, which hybrid gives to other styles: these results are ignored.
void PairNbcc::add_results(const nbcc_lammps::Results& results, int with_energy) {
  const std::size_t count = std::size_t(is_half_ && force->newton_pair ? atom->nlocal + atom->nghost : atom->nlocal);
  const auto is_ours = [this](std::size_t i) { return has_row_.empty() || has_row_[i]; };
  const auto add = [count, &is_ours](double** to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < 3 && is_ours(i); ++c) to[i][c] += from[3 * i + c];
  };
  add(atom->f, results.force);
  if (interaction_->has_result("torque")) {
    if (!atom->torque) throw std::runtime_error("atoms of style " + std::string(atom->atom_style) + " have no torque");
    add(atom->torque, results.torque);
  }
  for (std::size_t i = 0; with_energy && interaction_->has_result("energy") && i < count; ++i) {
    if (!is_ours(i)) continue;
    if (eflag_global) eng_vdwl += results.energy[i];
    if (eflag_atom) eatom[i] += results.energy[i];
  }
  for (std::size_t i = 0; vflag_either && i < count; ++i) {
    if (!is_ours(i)) continue;
    for (std::size_t c = 0; c < 6; ++c) {
      const double one = results.virial[6 * i + c];
      if (vflag_global) virial[c] += one;
      if (vflag_atom) vatom[i][c] += one;
    }
  }
}

}  // namespace LAMMPS_NS
