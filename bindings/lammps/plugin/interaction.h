// A pipeline, numbers for its params, arrays of atoms and lists of pairs -> forces, energies and virials of the atoms.
// Knows nbcc and no LAMMPS; pair_nbcc.h stands between the two.
//
// On each i acts every j of its list: a full list, which has each pair at both of its ends. Forces on i are whole, and
// energies and virials half of those of i's pairs. j may be copies of atoms, as LAMMPS's ghosts are, that stand where
// they act; so a periodic box that the pipeline has is set to be as good as infinite.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <nbcc/nbcc.hpp>
#include <string>
#include <vector>

namespace nbcc_lammps {

struct Where {
  std::string device = "cpu";  // as nbcc::Device takes it
  int threads = 1;
  nbcc_precision precision = NBCC_DOUBLE;
};

// One number or several for each atom, `stride` bytes from atom to atom.
struct Quantity {
  const void* data = nullptr;
  nbcc_element element = NBCC_DOUBLE_ELEMENT;
  int columns = 1;
  std::int64_t stride = 0;
};

// The pairs of one weight: the j of i are j[first[i]] to before j[first[i + 1]].
struct Pairs {
  double weight = 1;
  std::vector<std::int64_t> first{0}, j;
  std::vector<double> special_lj, special_coul;  // by entry of j, for input_pair fields of these names
};

// By atom; empty where the pipeline has none.
struct Results {
  std::vector<double> force, torque, energy, virial;  // 3, 3, 1 and 6 numbers; virial in the order xx yy zz xy xz yz
};

class Interaction {
 public:
  // Compiles the pipeline in the file. Throws nbcc::Error with the diagnostics.
  Interaction(const std::string& path, const Where& where);

  const std::string& path() const { return path_; }
  // A param's numbers, or what a field stands for: an input for a quantity of atoms, an output for a result. Throws
  // std::runtime_error for names and values that the pipeline has no use for.
  void assign(const std::string& name, const std::string& value);
  void set(const std::string& param, const std::vector<double>& values);
  // Of a table that is symmetric in two types, counted from 0.
  void set_element(const std::string& table, int type_i, int type_j, double value);
  // Of params that a word names and that may be other numbers at every step: the word by the name of the param.
  const std::map<std::string, std::string>& followed() const { return followed_; }
  // When all is assigned. Throws where a param has no value, be it of one of `types` types, or an input no meaning.
  void check(int types);

  // Which quantities inputs stand for, by the names that LAMMPS has for them; to be filled in by the caller.
  std::map<std::string, Quantity>& quantities() { return quantities_; }
  // Whether pairs are weighed by the pipeline, which has an input_pair for that.
  bool weighs_pairs() const { return weighs_pairs_; }
  bool has_result(const std::string& result) const { return meaning_of_output_.contains(result); }

  // Throws where the pipeline lets an atom among the first `count`, with an atom like itself, act farther than
  // `cutoff`, or nothing is proved of how far.
  void check_reach(double cutoff, std::int64_t count);

  void set_pairs(std::vector<Pairs> lists);
  // Sums for the first ni atoms of the quantities; the j are among the first nj. Throws nbcc::Error.
  const Results& run(std::int64_t ni, std::int64_t nj, bool with_virial);

 private:
  // The pipeline with or without its virial, and for each list of pairs a sum.
  struct Variant {
    std::unique_ptr<nbcc::Pipeline> pipeline;
    std::vector<std::unique_ptr<nbcc::Sum>> sums;
    std::vector<int> listed;                     // by sum: of which round of lists
    std::map<std::string, std::string> outputs;  // by result the output
  };
  const nbcc::Field* find(const std::string& name) const;
  nbcc::Field& param(const std::string& name);
  void guess_meanings();
  void open_box(const nbcc::Pipeline& pipeline);
  void add_virial();
  void give_params(nbcc::Sum& sum) const;
  void bind_inputs(nbcc::Sum& sum, std::int64_t ni, std::int64_t nj) const;
  void ignore_outputs(nbcc::Sum& sum) const;
  void run_list(Variant& variant, std::size_t number, std::int64_t ni, std::int64_t nj);
  [[noreturn]] void refuse(const std::string& what) const;

  std::string path_, text_, box_;
  Where where_;
  nbcc::Device device_;
  std::vector<nbcc::Field> fields_;
  std::map<std::string, std::vector<double>> params_;
  std::map<std::string, std::string> followed_, meaning_of_input_, meaning_of_output_;  // the last by the result
  std::map<std::string, Quantity> quantities_;
  bool weighs_pairs_ = false;
  Variant plain_, virial_;
  std::vector<Pairs> lists_;
  int round_ = 0;
  Results results_, part_;
};

}  // namespace nbcc_lammps
