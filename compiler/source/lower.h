// The inside of lowering: Clang's tree, executed symbolically, becomes the IR. Private to lower*.cpp; parse.cpp uses
// only lower().
//
// A variable holds a Value: one IR node per component. A statement changes values; an `if` executes both branches on
// copies and merges them with Select; a `for` is executed as often as it says; a call executes the body. What is left
// at the end are the contributions. Wrong text throws Rejected, which is caught per top-level statement, so that one
// run reports every mistake; variables that the failed statement would have set are poisoned and stay silent.
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
#include "compiler/ir/ir.h"
#include "compiler/source/prescan.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {

// `array_assignments` are those that Clang has refused; what the language has among them is taken out.
Pipeline lower(clang::ASTContext& context, const Prescanned& prescanned, const Source& source,
               std::vector<Diagnostic>& diagnostics, std::vector<Diagnostic>& array_assignments);

namespace lowering {

// Component states beside a node id.
inline constexpr NodeId kUnset = -1;     // never assigned
inline constexpr NodeId kHalfSet = -2;   // assigned in one branch of an if only
inline constexpr NodeId kPoisoned = -3;  // its assignment was an error that has been reported

inline constexpr int kCunbodyLength = 10000;  // of the arrays that the prelude declares

struct Shape {
  Type scalar = Type::Real;
  int length = 0;          // 0: not an array
  int width = 1;           // 2..4: a vector
  int columns = 0;         // of an array of arrays: elements of a row; `length` counts those of all
  bool is_matrix = false;  // its rows are the elements, which are as long as it has rows
  int components() const { return width * (length == 0 ? 1 : length); }
  bool is_scalar() const { return length == 0 && width == 1; }
};

struct Value {
  Shape shape;
  std::vector<NodeId> parts;
};

// A variable, or a part of one, that can be read and assigned.
struct LValue {
  const clang::VarDecl* variable = nullptr;
  int first = 0;
  Shape shape;
  // Of a param that is read at indices known at run time only: the number of the row's first element, and that of the
  // element in its row. `first` then counts within an element.
  NodeId row = kNone, column = kNone;
};

inline bool overlap(const LValue& a, const LValue& b) {
  return a.variable == b.variable && a.first < b.first + b.shape.components() &&
         b.first < a.first + a.shape.components();
}

// A mistake in the user's text. An empty message means that it has been reported already.
struct Rejected {
  clang::SourceLocation where;
  std::string message;
};

struct Contributed {
  NodeId guard, value, logit = kNone;
};

// What reads a component of an input or a param.
inline Op leaf_of(Role role) {
  return role == Role::InputI      ? Op::InputI
         : role == Role::InputJ    ? Op::InputJ
         : role == Role::InputPair ? Op::InputPair
                                   : Op::Param;
}

// `left sign right`, of scalars or vectors: "=", "+=" and their like.
struct Assignment {
  const clang::Expr *left, *right;
  std::string sign;
};
std::optional<Assignment> assignment_in(const clang::Stmt* statement);

// Of "+" or "+=".
std::optional<Op> arithmetic_operation(llvm::StringRef sign);

// Not of what an expression gives.
bool is_part_of_variable(const clang::Expr* expression);

// True if every way through the statement ends in a return.
bool always_returns(const clang::Stmt* statement);

class Lowering {
 public:
  Lowering(clang::ASTContext& context, const Prescanned& prescanned, const Source& source,
           std::vector<Diagnostic>& diagnostics, std::vector<Diagnostic>& array_assignments)
      : context_(context),
        prescanned_(prescanned),
        source_(source),
        diagnostics_(diagnostics),
        array_assignments_(array_assignments) {}
  Pipeline run();

 private:
  // Ordered as in the text, so that the same text makes the same graph in every run.
  struct InTextOrder {
    bool operator()(const clang::VarDecl* a, const clang::VarDecl* b) const {
      return std::pair(a->getLocation().getRawEncoding(), a) < std::pair(b->getLocation().getRawEncoding(), b);
    }
  };
  using Environment = std::map<const clang::VarDecl*, Value, InTextOrder>;

  // A function being inlined: what it has returned so far, under which guards, newest last.
  struct Frame {
    const clang::FunctionDecl* function;
    NodeId path;  // the path's guard when it was called
    std::vector<std::pair<NodeId, Value>> returned;
    std::vector<LValue> handed_over;  // what it changes under other names
  };

  // lower.cpp: declarations and the pipeline as a whole
  void declare(const clang::Decl* declaration);
  void declare_function(const clang::FunctionDecl* function);
  void lower_finish(const clang::FunctionDecl* function);
  void combine_contributions();
  Contribution combine_whole(const std::vector<Contributed>& parts, Op op);
  NodeId never_written(const Field& field);
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
  Shape shape_of(clang::QualType type, clang::SourceLocation where, bool of_param = false);

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
  void set(const clang::VarDecl* variable, Value value);  // all of it
  void replace(const clang::VarDecl* variable, Value value);
  Environment end_branch();
  void join(const Environment& yes, const Environment& no, NodeId condition, int line);

  // lower_reduce.cpp
  bool reduce(const clang::Expr* expression);
  bool reduce_by_call(const LValue& lvalue, const clang::Expr* right, clang::SourceLocation where);
  void contribute(const LValue& lvalue, const Value& value, Reduction reduction, clang::SourceLocation where,
                  NodeId logit = kNone);
  void count(const LValue& lvalue, const clang::Expr* right, clang::SourceLocation where);
  NodeId contributed_value(const Field& field, Reduction reduction, NodeId part, clang::SourceLocation where);
  Contribution combine_exponentials(const std::vector<Contributed>& parts, Reduction reduction);
  const Field* output_of(const clang::VarDecl* variable) const;
  bool refers_to(const clang::Expr* expression, const LValue& lvalue);
  std::string how_to_change(const Field& output) const;

  // lower_choice.cpp: argmin and argmax of several places, and what goes along with them
  bool allow_array_assignment(const clang::Expr* expression);
  void allow_where_unexecuted();
  void allow_within(const clang::Stmt* statement);
  void take_out(const clang::Expr* expression);
  static Value in_each_place(const Value& value, int places);
  void check_choice(const Field& field, const LValue& lvalue, clang::SourceLocation where);
  void carry(const LValue& lvalue, const clang::CallExpr* call, clang::SourceLocation where);
  void check_carried();

  // lower_expression.cpp
  Value evaluate(const clang::Expr* expression);
  Value evaluate_plain(const clang::Expr* expression);  // without parentheses and what Clang writes around it
  Value evaluate_binary(const clang::BinaryOperator* expression);
  Value evaluate_unary(const clang::UnaryOperator* expression);
  Value evaluate_conditional(const clang::ConditionalOperator* expression);
  Value evaluate_construct(const clang::CXXConstructExpr* expression);
  Value evaluate_operator_call(const clang::CXXOperatorCallExpr* expression);
  Value arithmetic(Op op, const Value& a, const Value& b, clang::SourceLocation where);
  Value convert(const Value& value, Shape shape, clang::SourceLocation where);           // as an assignment does
  Value convert_as_asked(const Value& value, Shape shape, clang::SourceLocation where);  // as a cast does
  Value literal(const clang::Expr* expression);
  void warn_of_range(const clang::FloatingLiteral* number);
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
  NodeId transplant(NodeId id);  // a node of `pair` that no j reaches, remade in `finish`

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

  // lower_table.cpp
  bool is_param(const LValue& lvalue) const;
  LValue looked_up(const LValue& base, const Value& index, clang::SourceLocation where);
  Value read_table(Field& field, const LValue& lvalue, clang::SourceLocation where);
  NodeId lookup(Field& field, int first, NodeId row, NodeId column, int power, clang::SourceLocation where);
  Value interpolate(const clang::CallExpr* expression, bool cubic);
  void place_tables_last();

  // lower_derivative.cpp
  void find_variables();
  void find_variables(const clang::Stmt* statement);
  void set_apart(const clang::VarDecl* variable, NodeId& part);
  void forget_variables();
  Value variable_of(const clang::Expr* argument, const char* function);
  Value differentiated(const clang::Expr* argument, const char* function);
  Value rate_given(const clang::Expr* argument, const Value& x);
  Value gradient_of(const clang::CallExpr* expression);
  Value rate_of(const clang::CallExpr* expression);
  void warn_independent(const clang::Expr* variable, clang::SourceLocation where);
  void fill_with_zeros(Value& value);

  // lower_call.cpp
  Value call(const clang::CallExpr* expression);
  Value call_built_in(const clang::CallExpr* expression, const clang::FunctionDecl* function);
  NodeId scalar_function(const std::string& name, std::array<NodeId, 3> arguments, clang::SourceLocation where);
  Value inline_function(const clang::CallExpr* expression, const clang::FunctionDecl* function);
  const clang::FunctionDecl* definition_of(const clang::FunctionDecl* function, clang::SourceLocation where);
  void call_for_results(const clang::CallExpr* expression, const clang::FunctionDecl* function);
  // Variables that parameters stand for: what the function leaves in these, they take.
  using Results = std::vector<std::pair<LValue, const clang::VarDecl*>>;
  Frame execute_body(const clang::FunctionDecl* definition, const Results& results);
  Results bind_arguments(const clang::CallExpr* expression, const clang::FunctionDecl* definition);
  void find_variables(const clang::Expr* expression, std::vector<LValue>& found);
  Value join_returned(const Frame& frame, clang::SourceLocation where);
  void call_skip_if(const clang::CallExpr* expression);
  void call_sincos(const clang::CallExpr* expression);
  Value image_in_cell(const clang::CallExpr* expression, const std::vector<Value>& arguments);
  Value vector_function(const std::string& name, const std::vector<Value>& arguments, clang::SourceLocation where);

  // Building nodes: folded at once, so that loop bounds and indices are constants when they are needed.
  NodeId make(Op op, Type type, std::array<NodeId, 3> args, clang::SourceLocation where);
  NodeId unary(Op op, NodeId a, clang::SourceLocation where);
  NodeId binary(Op op, NodeId a, NodeId b, clang::SourceLocation where);
  NodeId select(NodeId condition, NodeId yes, NodeId no, clang::SourceLocation where);
  NodeId cast(NodeId a, Type type, clang::SourceLocation where);
  NodeId both(NodeId guard_a, NodeId guard_b);  // and of two guards, kNone meaning always

  bool in_prelude(const clang::Decl* declaration) const;

  clang::ASTContext& context_;
  const Prescanned& prescanned_;
  const Source& source_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Diagnostic>& array_assignments_;

  Pipeline pipeline_;
  Graph* graph_ = &pipeline_.pair;  // `finish` while finish() is lowered
  Environment environment_;
  std::vector<Environment> branches_;  // of each if being executed: what its branch has changed, with the values before
  std::map<const clang::VarDecl*, int, InTextOrder> fields_;  // index in pipeline_.fields
  std::set<const clang::VarDecl*> broken_;                    // their declarations were errors that have been reported
  std::set<const clang::FunctionDecl*> called_;
  std::map<NodeId, NodeId> transplanted_;
  std::map<const clang::VarDecl*, int> half_set_line_;
  std::set<std::tuple<int, int, std::string>> said_;  // of report()
  int errors_ = 0;
  std::vector<std::vector<Contributed>> contributed_;
  std::vector<Frame> frames_;
  NodeId path_ = kNone;                         // guard of the statement being executed
  NodeId skip_ = kNone;                         // the pair is skipped where this holds
  std::set<const clang::VarDecl*> variables_;   // by which something is differentiated
  std::int64_t set_apart_ = 0;                  // how many nodes of their own these have got
  std::set<std::pair<Op, std::int64_t>> used_;  // leaves: components of the inputs and params
  bool finishing_ = false;
  std::array<std::unordered_set<NodeId>, 2> differentiated_;  // by finishing_: nodes that derivatives have used
  int executed_ = 0;                                          // statements so far, a bound on unrolling
  int evaluated_ = 0;                                         // expressions so far, likewise
  bool measuring_ = false;                                    // a first run to learn the dimensions of Cunbody's arrays
  std::map<const clang::VarDecl*, int> largest_index_;
};

}  // namespace lowering
}  // namespace nbcc
