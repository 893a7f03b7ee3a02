// Lowering: Clang's AST is executed symbolically and becomes the IR. Private to lower*.cpp; parse.cpp uses only
// lower() and with_array_types().
//
// A variable holds a Value: one IR node per component. A statement changes values; an `if` executes both branches on
// copies and merges them with Select; a `for` is unrolled; a call executes the function's body. The result are the
// contributions. An error in the text throws Rejected, which is caught per top-level statement, so that one run reports
// every error. Variables that the failed statement would have set are poisoned: their uses report no further errors.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/Lex/Token.h"
#include "compiler/ir/ir.h"
#include "compiler/source/prescan.h"
#include "compiler/text/diagnostic.h"

namespace clang {
class Preprocessor;
}

namespace nbcc {

// (line, column) of a variable's declaration -> what all values depend on that the variable gets.
using VariableBindings = std::map<std::pair<int, int>, Binding>;

// `array_assignments` are Clang's errors about assignments to arrays; lower() removes those that the language allows.
// `bindings` (may be null) receives the bindings of all variables that are executed.
Pipeline lower(clang::ASTContext& context, const Prescanned& prescanned, const Source& source,
               std::vector<Diagnostic>& diagnostics, std::vector<Diagnostic>& array_assignments,
               VariableBindings* bindings = nullptr);

// The tokens, after the preprocessor, with the prelude's type of arrays for arrays of real numbers.
std::vector<clang::Token> with_array_types(const std::vector<clang::Token>& tokens, clang::Preprocessor& preprocessor);

namespace lowering {

// States of a component that are no node id.
inline constexpr NodeId kUnset = -1;     // never assigned
inline constexpr NodeId kHalfSet = -2;   // assigned in one branch of an if only
inline constexpr NodeId kPoisoned = -3;  // its assignment was an error that has been reported

inline constexpr int kCunbodyLength = 10000;  // length of the arrays that the prelude declares

struct Shape {
  Type scalar = Type::Real;
  int length = 0;           // 0: not an array
  int width = 1;            // 2..4: a vector
  int columns = 0;          // of an array of arrays: elements per row; `length` counts all rows' elements
  bool is_matrix = false;   // square; its elements are its rows
  bool is_complex = false;  // of width 2: the real and the imaginary part
  int components() const { return width * (length == 0 ? 1 : length); }
  bool is_scalar() const { return length == 0 && width == 1; }
  Shape of_element() const { return {scalar, 0, width, 0, false, is_complex}; }
};

struct Value {
  Shape shape;
  std::vector<NodeId> parts;
  // The part that is combined with component c of another value; a number is combined with each.
  NodeId part(int c) const { return parts[shape.is_scalar() ? 0 : std::size_t(c)]; }
};

// A variable, an element or a component, which can be read and assigned.
struct LValue {
  const clang::VarDecl* variable = nullptr;
  int first = 0;
  Shape shape;
  // For a param that is read at indices known only at run time: the index of the row's first element, and the index of
  // the element in its row. `first` then is the component within the element. Of an element of a histogram `column` is
  // the element, -1 if there is none.
  NodeId row = kNone, column = kNone;
};

inline bool overlap(const LValue& a, const LValue& b) {
  return a.variable == b.variable && a.first < b.first + b.shape.components() &&
         b.first < a.first + a.shape.components();
}

// An error in the user's text. An empty message means that the error has been reported already.
struct Rejected {
  clang::SourceLocation where;
  std::string message;
};

struct Contributed {
  NodeId guard, value, logit = kNone;  // as in Contribution
};

// Maximum elements of arrays that become components of their own.
constexpr int kMaxComponents = 1024;

// The leaf that reads a component of an input or a param.
inline Op leaf_of(Role role) {
  return role == Role::InputI      ? Op::InputI
         : role == Role::InputJ    ? Op::InputJ
         : role == Role::InputPair ? Op::InputPair
                                   : Op::Param;
}

// `left sign right` for scalars or vectors, with the sign "=", "+=", "-=", ...
struct Assignment {
  const clang::Expr *left, *right;
  std::string sign;
};
std::optional<Assignment> assignment_in(const clang::Stmt* statement);

// The operation of "+" or "+="; none for other signs.
std::optional<Op> arithmetic_operation(llvm::StringRef sign);

// True for a variable, an element or a component of one; false for temporary values.
bool is_part_of_variable(const clang::Expr* expression);

// True for the type of a parameter that is an array, which belongs to the caller.
bool is_array_parameter(clang::QualType type);

// True if every path through the statement ends in a return.
bool always_returns(const clang::Stmt* statement);

class ComplexNodes;

class Lowering {
 public:
  Lowering(clang::ASTContext& context, const Prescanned& prescanned, const Source& source,
           std::vector<Diagnostic>& diagnostics, std::vector<Diagnostic>& array_assignments,
           VariableBindings* bindings = nullptr)
      : context_(context),
        prescanned_(prescanned),
        source_(source),
        diagnostics_(diagnostics),
        array_assignments_(array_assignments),
        bindings_(bindings) {}
  Pipeline run();

 private:
  friend class ComplexNodes;
  // Ordered as in the text, so that a text makes the same graph in every run.
  struct InTextOrder {
    bool operator()(const clang::VarDecl* a, const clang::VarDecl* b) const {
      return std::pair(a->getLocation().getRawEncoding(), a) < std::pair(b->getLocation().getRawEncoding(), b);
    }
  };
  using Environment = std::map<const clang::VarDecl*, Value, InTextOrder>;

  // A function being inlined: the values that it has returned so far, with their guards, newest last.
  struct Frame {
    const clang::FunctionDecl* function;
    NodeId path;  // guard of the call
    std::vector<std::pair<NodeId, Value>> returned;
    std::vector<LValue> by_reference;  // arguments of its reference parameters
  };

  // lower.cpp: declarations, and the pipeline's top level
  void declare(const clang::Decl* declaration);
  void declare_function(const clang::FunctionDecl* function);
  void lower_finish(const clang::FunctionDecl* function);
  void combine_contributions();
  Contribution combine_integers(const std::vector<Contributed>& parts, Op op);
  NodeId unwritten_value(const Field& field);
  void warn_unused();
  void mark_used(const Graph& graph, const std::vector<NodeId>& from, std::unordered_set<NodeId>& marked);
  void warn_unwritten(const Field& field);
  Location location(clang::SourceLocation where) const;
  void report(Severity severity, clang::SourceLocation where, std::string message);
  void poison(const clang::Stmt* statement);
  void poison_variable(const clang::Expr* target);
  template <typename Action>
  bool attempt(const clang::Stmt* statement, Action action);

  // lower_field.cpp
  void declare_field(const clang::VarDecl* variable, llvm::StringRef annotation);
  Field field_named(const clang::VarDecl* variable, llvm::StringRef annotation);
  void declare_cunbody_arrays();
  Shape shape_of(clang::QualType type, clang::SourceLocation where, bool of_param = false, int most = kMaxComponents);
  Shape shape_of_array(clang::QualType type, clang::SourceLocation where, bool of_param, int most);
  Shape shape_of_field(const clang::VarDecl* variable, const Field& field);

  // lower_statement.cpp
  void execute(const clang::Stmt* statement);
  void execute_if(const clang::IfStmt* statement);
  void execute_for(const clang::ForStmt* statement);
  void execute_return(const clang::ReturnStmt* statement);
  void execute_expression(const clang::Expr* expression);
  bool execute_assignment(const clang::Expr* expression);
  void execute_call(const clang::CallExpr* expression);
  void define_local(const clang::VarDecl* variable);
  Value initial_value(const clang::VarDecl* variable, Shape shape);
  void fill(Value& value, std::size_t first, Shape shape, const clang::InitListExpr* list, clang::SourceLocation where);
  void assign(const LValue& lvalue, Value value, clang::SourceLocation where);
  void set(const clang::VarDecl* variable, Value value);  // sets all components
  void replace(const clang::VarDecl* variable, Value value);
  void record_binding(const clang::VarDecl* variable, const Value& value);
  Environment end_branch();
  void join(const Environment& yes, const Environment& no, NodeId condition, int line);

  // lower_reduce.cpp
  bool reduce(const clang::Expr* expression);
  bool reduce_by_call(const LValue& lvalue, const clang::Expr* right, clang::SourceLocation where);
  void contribute(const LValue& lvalue, const Value& given, Reduction reduction, clang::SourceLocation where,
                  NodeId logit = kNone);
  void count(const LValue& lvalue, const clang::Expr* right, clang::SourceLocation where);
  void add_to_total(const LValue& lvalue, const Value& value, clang::SourceLocation where);
  NodeId contributed_value(const Field& field, Reduction reduction, NodeId part, clang::SourceLocation where);
  Contribution combine_exponentials(const std::vector<Contributed>& parts, Reduction reduction);
  const Field* output_of(const clang::VarDecl* variable) const;
  const Field* reduced_by_statement(const clang::VarDecl* variable) const;
  bool refers_to(const clang::Expr* expression, const LValue& lvalue);
  std::string how_to_change(const Field& output) const;

  // lower_choice.cpp: argmin and argmax with several indices or payloads
  bool allow_array_assignment(const clang::Expr* expression);
  void allow_in_unexecuted_code();
  void allow_within(const clang::Stmt* statement);
  void accept_array_assignments(const clang::Expr* expression);
  static Value repeated(const Value& value, int count);
  void check_choice(const Field& field, const LValue& lvalue, clang::SourceLocation where);
  void contribute_payload(const LValue& lvalue, const clang::CallExpr* call, clang::SourceLocation where);
  void check_payloads();

  // lower_expression.cpp
  Value evaluate(const clang::Expr* expression);
  Value evaluate_plain(const clang::Expr* expression);  // without parentheses and implicit nodes of Clang
  Value evaluate_binary(const clang::BinaryOperator* expression);
  Value evaluate_unary(const clang::UnaryOperator* expression);
  Value evaluate_conditional(const clang::ConditionalOperator* expression);
  Value evaluate_construct(const clang::CXXConstructExpr* expression);
  Value evaluate_operator_call(const clang::CXXOperatorCallExpr* expression);
  Value arithmetic(Op op, const Value& a, const Value& b, clang::SourceLocation where);
  Value convert(const Value& value, Shape shape, clang::SourceLocation where);           // as an assignment does
  Value convert_as_asked(const Value& value, Shape shape, clang::SourceLocation where);  // as a cast does
  Value literal(const clang::Expr* expression);
  llvm::StringRef text_of(const clang::Expr* literal) const;
  void warn_of_range(const llvm::APFloat& value, llvm::StringRef text, clang::SourceLocation where);
  Value evaluate_member(const clang::MemberExpr* expression);
  Value evaluate_comparison(const clang::BinaryOperator* expression);
  NodeId condition(const clang::Expr* expression);

  // lower_lvalue.cpp
  LValue lvalue_of(const clang::Expr* expression);
  LValue lvalue_of_variable(const clang::DeclRefExpr* reference);
  LValue element(const LValue& base, const clang::Expr* index, clang::SourceLocation where);
  std::int64_t constant_index(const Value& index, int count, const std::string& what, clang::SourceLocation where);
  Value read(const LValue& lvalue, clang::SourceLocation where);
  Value read_field(const Field& field, const LValue& lvalue, clang::SourceLocation where);
  Value read_variable(const clang::VarDecl* variable, clang::SourceLocation where);
  Value read_built_in(const clang::VarDecl* variable, clang::SourceLocation where);
  NodeId transplant(NodeId id);  // copies a node of `pair` that does not depend on j to `finish`

  // lower_histogram.cpp
  bool is_histogram(const Field& field) const;
  NodeId conversions_hold(NodeId id, clang::SourceLocation where);
  LValue histogram_element(const LValue& base, const Value& index, clang::SourceLocation where);
  void add_to_element(const LValue& lvalue, const Value& value, clang::SourceLocation where);
  void gather_histograms();

  // lower_bits.cpp
  bool is_unsigned(clang::QualType type) const;
  Value evaluate_argument(const clang::Expr* expression);
  Value widened(Value value, clang::SourceLocation where);
  Value become_unsigned(const Value& value, clang::SourceLocation where);
  Value cast_as_written(const clang::ExplicitCastExpr* expression);
  Value combine(const std::string& sign, const clang::Expr* left, const Value& a, const clang::Expr* right,
                const Value& b, clang::SourceLocation where);
  Value bit_operation(Op op, const Value& a, Value b, bool is_unsigned, clang::SourceLocation where);
  Value complement(const clang::Expr* expression);
  Value random(const clang::CallExpr* expression, const std::vector<Value>& arguments, bool real);

  // lower_matrix.cpp
  Value component_wise(Op op, const Value& a, const Value& b, clang::SourceLocation where);
  Value compared(clang::OverloadedOperatorKind sign, const Value& a, const Value& b, clang::SourceLocation where);
  Value matrix_of(const clang::CXXConstructExpr* expression, Shape shape);
  Value matrix_arithmetic(Op op, const Value& a, const Value& b, clang::SourceLocation where);
  Value matrix_function(const std::string& name, const std::vector<Value>& arguments, clang::SourceLocation where);
  NodeId dot(const std::vector<NodeId>& a, const std::vector<NodeId>& b, clang::SourceLocation where);

  // lower_complex.cpp
  Value complex_arithmetic(Op op, const Value& a, const Value& b, clang::SourceLocation where);
  Value complex_function(const std::string& name, const std::vector<Value>& arguments, clang::SourceLocation where);
  Value complex_of(const clang::CXXConstructExpr* expression);
  Value imaginary_literal(const clang::UserDefinedLiteral* literal);
  Value converted(const clang::CXXMemberCallExpr* expression);
  Value as_complex(const Value& value, const Shape& wanted, clang::SourceLocation where);

  // lower_table.cpp
  bool is_param(const LValue& lvalue) const;
  LValue table_element(const LValue& base, const Value& index, clang::SourceLocation where);
  Value read_table(Field& field, const LValue& lvalue, clang::SourceLocation where);
  NodeId lookup(Field& field, int first, NodeId row, NodeId column, int power, clang::SourceLocation where);
  LValue interpolated_param(const clang::CallExpr* expression, const char* function);
  Value interpolate(const clang::CallExpr* expression, bool cubic);
  Value spline_coefficient(const clang::CallExpr* expression);
  void move_tables_last();

  // lower_derivative.cpp
  void find_variables();
  void find_variables(const clang::Stmt* statement);
  void mark_variable(const clang::VarDecl* variable, NodeId& part);
  void remove_marks();
  Value variable_of(const clang::Expr* argument, const char* function);
  Value differentiated(const clang::Expr* argument, const char* function);
  Value rate_given(const clang::Expr* argument, const Value& x);
  std::vector<NodeId> gradient_by(NodeId u, const std::vector<NodeId>& parts);
  Value gradient_of(const clang::CallExpr* expression);
  Value rate_of(const clang::CallExpr* expression);
  void warn_independent(const clang::Expr* variable, clang::SourceLocation where);
  void fill_with_zeros(Value& value);

  // lower_image.cpp
  NodeId vector_node(const std::vector<NodeId>& parts, clang::SourceLocation where);
  void require_uniform(NodeId node, const clang::Expr* argument, const std::string& function);
  Value image_in_cell(const clang::CallExpr* expression, const std::vector<Value>& arguments);
  Value every_image(const clang::CallExpr* expression, const std::vector<Value>& arguments);
  Value image_index(const clang::CallExpr* expression, const Value& k);
  void check_images();

  // lower_call.cpp
  Value call(const clang::CallExpr* expression);
  Value call_built_in(const clang::CallExpr* expression, const clang::FunctionDecl* function);
  NodeId scalar_function(const std::string& name, std::array<NodeId, 3> arguments, clang::SourceLocation where);
  Value inline_function(const clang::CallExpr* expression, const clang::FunctionDecl* function);
  const clang::FunctionDecl* definition_of(const clang::FunctionDecl* function, clang::SourceLocation where);
  void call_for_results(const clang::CallExpr* expression, const clang::FunctionDecl* function);
  // (variable, reference parameter): after the call the variable gets the parameter's value.
  using Results = std::vector<std::pair<LValue, const clang::VarDecl*>>;
  Frame execute_body(const clang::FunctionDecl* definition, const Results& results);
  Results bind_arguments(const clang::CallExpr* expression, const clang::FunctionDecl* definition);
  void find_variables(const clang::Expr* expression, std::vector<LValue>& found);
  Value join_returned(const Frame& frame, clang::SourceLocation where);
  void call_skip_if(const clang::CallExpr* expression);
  void call_sincos(const clang::CallExpr* expression);
  Value vector_function(const std::string& name, const std::vector<Value>& arguments, clang::SourceLocation where);

  // These build nodes and fold them at once, so that loop bounds and indices are constants.
  NodeId make(Op op, Type type, std::array<NodeId, 3> args, clang::SourceLocation where);
  NodeId unary(Op op, NodeId a, clang::SourceLocation where);
  NodeId binary(Op op, NodeId a, NodeId b, clang::SourceLocation where);
  NodeId select(NodeId condition, NodeId yes, NodeId no, clang::SourceLocation where);
  NodeId cast(NodeId a, Type type, clang::SourceLocation where);
  NodeId conjunction(NodeId guard_a, NodeId guard_b);  // kNone means always

  bool in_prelude(const clang::Decl* declaration) const;

  clang::ASTContext& context_;
  const Prescanned& prescanned_;
  const Source& source_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Diagnostic>& array_assignments_;
  VariableBindings* const bindings_;

  Pipeline pipeline_;
  Graph* graph_ = &pipeline_.pair;  // `finish` while finish() is lowered
  Environment environment_;
  std::vector<Environment> branches_;  // for each if being executed: variables that its branch changed, with old values
  std::map<const clang::VarDecl*, int, InTextOrder> fields_;  // index in pipeline_.fields
  std::set<const clang::VarDecl*> broken_;                    // variables whose declarations were reported as errors
  std::set<const clang::FunctionDecl*> called_;
  std::map<NodeId, NodeId> transplanted_;
  std::map<const clang::VarDecl*, int> half_set_line_;
  std::set<std::tuple<int, int, std::string>> reported_;  // line, column and message of all reports
  int errors_ = 0;
  std::vector<std::vector<Contributed>> contributed_;
  std::map<const clang::VarDecl*, std::vector<Contributed>, InTextOrder> added_to_elements_;  // `logit`: the element
  std::vector<Frame> frames_;
  NodeId path_ = kNone;                         // guard of the current statement
  NodeId skip_ = kNone;                         // condition of skip_if: the pair is skipped where it holds
  std::set<const clang::VarDecl*> variables_;   // variables with respect to which something is differentiated
  std::int64_t marks_ = 0;                      // number of marks (casts) made for `variables_`
  std::set<std::pair<Op, std::int64_t>> used_;  // components of inputs and params in use, as leaf op and payload
  bool finishing_ = false;
  std::array<std::unordered_set<NodeId>, 2> differentiated_;  // [finishing_]: nodes that derivatives have used
  // finishing_, value, leaf and first component of an array -> the derivatives of the value by all elements.
  std::map<std::tuple<bool, NodeId, Op, int>, std::vector<NodeId>> gradients_;
  int executed_ = 0;        // executed statements, at most kMaxStatements
  int evaluated_ = 0;       // evaluated expressions, at most kMaxExpressions
  bool measuring_ = false;  // this run finds the lengths of Cunbody arrays
  std::map<const clang::VarDecl*, int> largest_index_;
};

}  // namespace lowering
}  // namespace nbcc
