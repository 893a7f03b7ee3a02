// pair_style nbcc: a pair formula in the language of nbcc as a pair style of LAMMPS.
//
//   pair_style nbcc CUTOFF [device cpu|cuda|cuda:N] [precision single|mixed|double] [threads N] [special lj|coul]
//                          [check yes|no] [pairs auto|search|lists]
//   pair_coeff * * FILE.pipe [NAME=VALUE ...] [mix TABLE=RULE ...]
//                                     the formula, its params, the meanings of its fields, rules for elements of tables
//   pair_coeff I J NAME=NUMBER ...    elements of tables, by the types of both atoms
#pragma once
#include <error.h>
#include <exceptions.h>
#include <pair.h>

#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bindings/lammps/plugin/coeff_record.h"
#include "bindings/lammps/plugin/given_values.h"
#include "bindings/lammps/plugin/interaction.h"

namespace LAMMPS_NS {

class PairNbcc : public Pair {
 public:
  explicit PairNbcc(LAMMPS* lammps);
  ~PairNbcc() override;

  void settings(int count, char** words) override;
  void coeff(int count, char** words) override;
  void init_style() override;
  double init_one(int i, int j) override;
  void compute(int eflag, int vflag) override;
  double single(int i, int j, int itype, int jtype, double rsq, double factor_coul, double factor_lj,
                double& fforce) override;
  void write_restart(FILE* file) override;
  void read_restart(FILE* file) override;
  void write_restart_settings(FILE* file) override;
  void read_restart_settings(FILE* file) override;

 private:
  void allocate();
  void apply_settings(const std::vector<std::string>& words);
  // checks_text: a file that is named again must still have the text that was read.
  void apply_coeff(std::vector<std::string> words, bool checks_text);
  void repeat(const std::vector<std::vector<std::string>>& coeffs);
  std::string read_everywhere(const std::string& path, const std::string& what);
  void open(const std::string& file, const std::string& text);
  void write(FILE* file, const nbcc_lammps::CoeffRecord& record);
  nbcc_lammps::CoeffRecord read(FILE* file);
  void check_modifiers();
  void check_special_bonds();
  // The reason why only LAMMPS's neighbour lists have the right pairs; empty if a search finds the same pairs.
  std::string why_lists() const;
  void choose_pairs();
  void check_search() const;
  // The index of the variable that a param follows.
  int variable_of(const std::string& param, const std::string& variable);
  bool follow_variables();
  void check_energies_unread(const std::string& param, const std::string& variable);
  void check_variables_known();
  void check_reach(bool has_followed_reach_changed);
  void check_forces();
  // The nearest pair of each two types in the neighbour list, of types whose forces are not checked yet.
  std::vector<nbcc_lammps::AtomPair> nearest_pairs() const;
  void throw_everywhere(std::string why);
  void collect_quantities();
  nbcc_lammps::Quantity quantity(const std::string& name);
  nbcc_lammps::Quantity array_of(const std::string& name);
  nbcc_lammps::Quantity of_two(const std::string& name, const std::array<int, 2>& atoms,
                               const std::array<int, 2>& types, double rsq);
  void list_pairs();
  void add_results(const nbcc_lammps::Results& results, int eflag);
  // Converts exceptions to errors of LAMMPS. everywhere: all ranks fail together (error->all), else this rank
  // (error->one).
  template <typename Body>
  void guarded(bool everywhere, const Body& body) {
    std::string message;
    try {
      body();
      return;
    } catch (const LAMMPSException&) {
      throw;
    } catch (const std::exception& refused) {
      message = std::string("pair_style nbcc: ") + refused.what();
    }
    if (everywhere) error->all(FLERR, message);
    error->one(FLERR, message);
  }

  double cutoff_ = 0;
  bool special_is_coul_ = false;
  std::string device_ = "cpu";
  nbcc_lammps::Where where_;
  std::unique_ptr<nbcc_lammps::Interaction> interaction_;
  std::string pairs_ = "auto";
  bool searches_ = false;  // nbcc searches for the pairs, without LAMMPS's neighbour list
  bool is_listed_ = false;
  bool is_reach_checked_ = false;     // in this run
  bool checks_forces_ = true;         // against the derivative of the energy, at the first step of a run
  bool are_variables_known_ = false;  // the followed params have values of a run
  bool warns_of_old_values_ = true;
  std::vector<std::vector<bool>> acts_;  // [type][type], from 1: this style computes their pairs
  bool is_half_ = false;                 // the neighbour list has each pair once
  std::vector<bool> has_row_;            // by atom, of formulas with finish(): the atom is in the neighbour list
  std::vector<int> types_;               // by atom, from 0 as rows of tables
  std::vector<double> masses_;           // by atom, if masses are given by type
  nbcc_lammps::CoeffRecord record_;      // all commands so far
  nbcc_lammps::GivenValues given_;       // by the lines of record_ that name the file
  std::map<std::string, std::vector<std::byte>> of_two_;  // quantity -> two rows
};

}  // namespace LAMMPS_NS
