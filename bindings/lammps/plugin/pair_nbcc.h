// pair_style nbcc: a pair formula in the language of nbcc as a pair style of LAMMPS.
//
//   pair_style nbcc CUTOFF [device cpu|cuda|cuda:N] [precision single|mixed|double] [threads N] [special lj|coul]
//   pair_coeff * * FILE.pipe [NAME=VALUE ...]      the formula, its params, the meanings of its fields
//   pair_coeff I J NAME=NUMBER ...                 elements of tables, by the types of both atoms
#pragma once
#include <pair.h>

#include <memory>
#include <string>
#include <vector>

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

 private:
  void allocate();
  void open(const std::string& file);
  void follow_variables();
  void collect_quantities();
  nbcc_lammps::Quantity quantity(const std::string& name);
  void list_pairs();
  void add_results(const nbcc_lammps::Results& results, int eflag);
  template <typename Body>
  void guarded(bool everywhere, const Body& body);

  double cutoff_ = 0;
  bool special_is_coul_ = false;
  std::string device_ = "cpu";
  nbcc_lammps::Where where_;
  std::unique_ptr<nbcc_lammps::Interaction> interaction_;
  bool is_listed_ = false;
  std::vector<int> types_;      // by atom, from 0 as rows of tables
  std::vector<double> masses_;  // by atom, if masses are given by type
};

}  // namespace LAMMPS_NS
