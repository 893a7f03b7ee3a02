// Computes forces, energies and virials of atoms from a pipeline, values of its params, arrays of atoms, and lists of
// pairs or a search for them. Uses nbcc and not LAMMPS; pair_nbcc.h connects the two.
//
// A full list has each pair for both of its atoms: the force on i is complete, and the energy and virial of i are half
// of the sums over its pairs. A half list has each pair once (NBCC_SYMMETRIC_LISTED): both atoms get their results,
// ghost atoms too. j may be ghost atoms, which are at the position of the periodic image that acts; therefore a
// periodic box of the pipeline is set to a length that is practically infinite.
#pragma once
#include <nbcc/nbcc.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <nbcc/nbcc.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nbcc_lammps {

// The value of a param that was not given.
inline constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

inline int bytes_of(nbcc_element element) { return element == NBCC_FLOAT || element == NBCC_INT32 ? 4 : 8; }

// How LAMMPS mixes distances and energies of two types (`pair_modify mix`).
enum class MixRule { Geometric, Arithmetic, Sixthpower };
double mixed_distance(MixRule rule, double a, double b);
double mixed_energy(MixRule rule, double energy_a, double energy_b, double distance_a, double distance_b);

// The numbers in "1,2.5", separated by commas or white space; no value if a word is not a number.
std::optional<std::vector<double>> numbers_in(std::string list);

struct Where {
  std::string device = "cpu";  // as nbcc::Device takes it
  int threads = 1;
  nbcc_precision precision = NBCC_DOUBLE;
};

// An array with one or several numbers per atom; `stride`: bytes from atom to atom.
struct Quantity {
  const void* data = nullptr;
  nbcc_element element = NBCC_DOUBLE_ELEMENT;
  int columns = 1;
  std::int64_t stride = 0;
};

// The pairs with one weight, in CSR form: the j of i are j[first[i]], ..., j[first[i + 1] - 1].
struct Pairs {
  double weight = 1;
  std::vector<std::int64_t> first{0}, j;
  std::vector<double> special_lj, special_coul;  // by entry of j, for input_pair fields of these names
};

// Results by atom; an array is empty if the pipeline has no such output.
struct Results {
  std::vector<double> force, torque, energy, virial;  // 3, 3, 1 and 6 numbers; virial in the order xx yy zz xy xz yz
};

// What the check of the reach needs to know of the atoms; their quantities are in Interaction::quantities().
struct AtomsInReach {
  std::int64_t owned = 0, all = 0;             // number of atoms of this rank, without and with ghosts
  const int* types = nullptr;                  // [all], from 1
  const std::vector<std::vector<bool>>& acts;  // [type][type], from 1: atoms of these types have pairs
};

// Two atoms of a rank, owned or ghosts, by their indices.
struct AtomPair {
  std::int64_t i = 0, j = 0;
  double distance = 0;
};

// One pair alone: the force on the first atom is force_over_r * (x of the first - x of the second).
struct OfPair {
  double force_over_r = 0, energy = 0;
};

class Interaction {
 public:
  // Compiles the pipeline; `path` names it in messages. Throws nbcc::Error with the diagnostics.
  Interaction(const std::string& path, const std::string& text, const Where& where);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  // Sets a param, or the meaning of a field: the quantity of atoms that an input gets, the result that an output is.
  // Throws std::runtime_error for unknown names and invalid values.
  void assign(const std::string& name, const std::string& value);
  void set(const std::string& param, const std::vector<double>& values);
  bool is_output(const std::string& name) const;
  // Sets two elements of a table that is symmetric in two types (from 0): (i, j) and (j, i).
  void set_element(const std::string& table, int type_i, int type_j, double value);
  // If the element for types a and b is not set, the rule computes it from the elements for a, a and b, b. Rules are
  // geometric, arithmetic and sixthpower; distance and energy:TABLE follow pair_modify mix, where TABLE has the
  // distances.
  void mix(const std::string& table, const std::string& rule);
  // Param name -> LAMMPS variable, for params whose values follow a variable and may change at every step.
  const std::map<std::string, std::string>& followed() const { return followed_; }
  int params_number() const { return params_number_; }  // number of changes of params
  // Call when everything is assigned. Throws if a param, or an element of a table for one of `types` atom types, has no
  // value, if an input has no meaning, or if no output is the force. pair_modify: the rule of `pair_modify mix`.
  void check(int types, MixRule pair_modify);

  // Throws if a table has no element for one of `types` atom types. Tests what can be known before all params are set:
  // formulas that read positions and types alone.
  void check_types(int types);

  // LAMMPS's name of a quantity -> its array, for the quantities that the inputs need; the caller sets the arrays.
  std::map<std::string, Quantity>& quantities() { return quantities_; }
  // True if the pipeline has an input_pair for the factors of special_bonds, and so weights the pairs itself.
  bool weighs_pairs() const { return weighs_pairs_; }
  bool has_result(const std::string& result) const { return meaning_of_output_.contains(result); }
  // True if the pipeline makes results of the sums over all pairs of an atom, so that parts of sums have none.
  bool has_finish() const { return has_finish_; }

  // Throws if no reach is proved, or if it is larger than `cutoff` for a pair of these atoms. For each pair of types it
  // tests atoms with the smallest and the largest number of each quantity, unless these numbers are within those of the
  // last test.
  enum class ReachTest {
    Everything,  // skips nothing, and tests each atom and its equal as well
    NewList,     // all quantities of all atoms: other ghosts may have come
    Step,        // as NewList, if a quantity in the proved reach has changed for one of this rank's own atoms
  };
  void check_reach(double cutoff, const AtomsInReach& atoms, ReachTest test);
  // True if the proved reach names a param that follows a variable.
  bool is_reach_followed() const;
  // True if the proved reach names an input that is neither position nor type, such as the radius.
  bool is_reach_of_atoms() const { return !reach_quantities_.empty(); }

  // Throws unless the force on both atoms of each pair, alone, is minus the derivative of the sum of their energies: at
  // the pair's distance and at some distances up to the cutoff, in double precision, at rest. types: by atom, from 1.
  // Call if has_result("energy").
  void check_forces(double cutoff, const std::vector<AtomPair>& pairs, const int* types);
  // True if check_forces() has passed a pair of these types (from 1) since params or meanings of fields have changed.
  bool are_forces_checked(int type_a, int type_b) const { return checked_types_.contains(std::minmax(type_a, type_b)); }

  // True if both atoms of a pair can be computed together, at less cost than twice. Call after check().
  bool takes_half_lists();
  void set_pairs(std::vector<Pairs> lists, bool are_half);
  // Takes the place of set_pairs(): run() searches for the pairs of the first `owned` atoms with all other atoms. The
  // pairs that a search has found serve until an atom has moved by half of `skin`. The pipeline needs a proved reach
  // (check_reach() throws without one), and must not weigh pairs (weighs_pairs()).
  void search_pairs(std::int64_t owned, double skin);
  // Sums for the first ni atoms; the j are among the first nj atoms. Of half lists ni = nj. Throws nbcc::Error, and
  // std::runtime_error if a pipeline with finish() has lists with several weights.
  const Results& run(std::int64_t ni, std::int64_t nj, bool with_virial);
  // A pair alone, in double precision. `of_two`: arrays with two rows, for each name in quantities(); they must stay at
  // their addresses. Throws if the formula is no sum over pairs (finish()), or its force is not central and opposite.
  OfPair of_pair(const std::map<std::string, Quantity>& of_two, double special_lj, double special_coul);

 private:
  // The pipeline with or without the virial, and one sum for each list of pairs.
  struct Variant {
    std::unique_ptr<nbcc::Pipeline> pipeline;
    std::vector<std::unique_ptr<nbcc::Sum>> sums;
    std::vector<int> listed;                     // by sum: the round_ in which its lists were set
    std::map<std::string, std::string> outputs;  // result -> output
  };
  struct OnePair;     // one_pair.cpp
  struct ForceTests;  // force_check.cpp
  // The pipeline in double precision, for checks; its inputs of pairs are inputs of j, because a search has no others.
  struct Exact {
    Exact(const std::string& text, const std::string& path);
    nbcc::Device device;
    nbcc::Pipeline pipeline;
  };
  // Numbers of one quantity's column, over the atoms of one type.
  struct Range {
    double least = 0, most = 0;
    std::int64_t least_atom = -1, most_atom = -1;  // -1: there is no atom of the type, or each number is NaN
    bool operator==(const Range&) const = default;
  };
  const nbcc::Field* find(const std::string& name) const;
  nbcc::Field& param(const std::string& name);
  std::string names_of(nbcc_role role) const;  // "a, b"; "none"
  void guess_meanings();
  // Throws unless the output has the shape and the reduction of the result.
  void check_result(const nbcc::Field& output, const std::string& result) const;
  void open_box(const nbcc::Pipeline& pipeline);
  bool reach_names(const std::string& name) const;
  std::vector<std::vector<Range>> ranges_of(const AtomsInReach& atoms, ReachTest test) const;
  bool are_tested(const std::vector<std::vector<Range>>& ranges) const;
  using Pair = std::pair<std::int64_t, std::int64_t>;  // i, j
  void test_pairs(double cutoff, const std::vector<Pair>& pairs);
  std::optional<std::size_t> first_acting(double distance, std::span<const Pair> pairs);
  double reach_of(const Pair& pair, double acting);
  Exact& exact();
  void place_tests(ForceTests& tests) const;
  void sum_tests(ForceTests& tests);
  void compare_test(const ForceTests& tests, std::size_t test, const int* types) const;
  void set_words(const std::string& name, const std::string& words);
  void mix_tables(int types, MixRule pair_modify);
  void check_table(const nbcc::Field& field, int types) const;
  void add_virial();
  void give_params(nbcc::Sum& sum) const;
  void bind_input(nbcc::Sum& sum, const std::string& name, const Quantity& quantity, std::int64_t count) const;
  void bind_inputs(nbcc::Sum& sum, std::int64_t ni, std::int64_t nj) const;
  void ignore_outputs(nbcc::Sum& sum) const;
  void take_lists(std::vector<Pairs> lists, bool are_half, bool searches);
  void run_list(Variant& variant, std::size_t number, std::int64_t ni, std::int64_t nj);
  [[noreturn]] void refuse(const std::string& what) const;

  std::string path_, text_, box_;
  Where where_;
  nbcc::Device device_;
  std::vector<nbcc::Field> fields_;
  std::map<std::string, std::vector<double>> params_;  // without mixed elements
  std::map<std::string, std::vector<bool>> is_set_;    // param -> element: it was set, and is not a default
  std::map<std::string, std::string> rules_;           // table -> rule
  std::map<std::string, std::vector<double>> mixed_;   // the tables with rules, with mixed elements
  int params_number_ = 0;
  std::map<std::string, std::string> followed_;           // param -> variable
  std::map<std::string, std::string> meaning_of_input_;   // input -> quantity
  std::map<std::string, std::string> meaning_of_output_;  // result -> output
  std::map<std::string, Quantity> quantities_;
  bool weighs_pairs_ = false, has_finish_ = false;
  Variant plain_, virial_;
  std::vector<Pairs> lists_;  // if searches_: one list, of excluded pairs, each atom with itself
  bool are_half_ = false, searches_ = false;
  double skin_ = 0;
  int round_ = 0;  // number of changes of lists_
  Results results_, part_;
  std::shared_ptr<OnePair> one_pair_;
  std::shared_ptr<Exact> exact_;
  std::set<std::string> reach_quantities_;       // named in the proved reach: neither x nor type
  std::vector<std::vector<Range>> tested_;       // [type][number]: of the last test of the reach
  std::set<std::pair<int, int>> checked_types_;  // that check_forces() has passed, the smaller type first
};

}  // namespace nbcc_lammps
