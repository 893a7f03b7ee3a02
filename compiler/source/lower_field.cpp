// Declarations of fields -> Field, and Clang's types -> Shape. Part of lowering (lower.h). Entry points:
// declare_field(), declare_cunbody_arrays(), shape_of().
#include <fmt/core.h>

#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/AST/Type.h"
#include "compiler/source/lower.h"
#include "compiler/source/vocabulary.h"

namespace nbcc::lowering {

namespace {
// Maximum elements of a param, which GPUs read fast in tables of this size, and of a total.
constexpr int kMaxElements = 65536;
// Maximum indices of an argmin or argmax: each GPU thread keeps all of them.
constexpr int kMaxIndices = 64;
}  // namespace

Shape Lowering::shape_of(clang::QualType type, clang::SourceLocation where, bool of_param, int most) {
  Shape shape;
  type = type.getNonReferenceType();
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    shape.length = int(array->getSize().getLimitedValue(1 << 20));
    type = array->getElementType();
    if (const auto* row = context_.getAsConstantArrayType(type)) {
      if (!of_param)
        throw Rejected{where, "only a param can be an array of arrays; use one array, and a[i * n + k] for a[i][k]"};
      shape.columns = int(row->getSize().getLimitedValue(1 << 20));
      type = row->getElementType();
      if (shape.columns < 1) throw Rejected{where, "a row may not be empty"};
      shape.length = int(std::min<std::int64_t>(std::int64_t(shape.length) * shape.columns, 1 << 20));
    }
    if (context_.getAsArrayType(type)) throw Rejected{where, "an array has one index, or two"};
    if (shape.length < 1 || shape.length > most)
      throw Rejected{where, fmt::format("{} may have 1 to {} elements, not {}", of_param ? "a param" : "an array", most,
                                        shape.length)};
  } else if (context_.getAsArrayType(type)) {
    throw Rejected{where, "an array needs a constant length"};
  }
  if (const auto* decayed = llvm::dyn_cast<clang::DecayedType>(type))
    return shape_of(decayed->getOriginalType(), where);
  if (type->isAnyPointerType())
    throw Rejected{where, "a pointer is not in the language; use an array and a constant index"};
  if (type->isReferenceType()) throw Rejected{where, "a reference is not in the language; declare a variable"};
  // Compare typedef names first: to Clang `real` is a typedef of float, but here it is another type.
  for (clang::QualType t = type;;) {
    if (const auto* named = t->getAs<clang::TypedefType>()) {
      const llvm::StringRef name = named->getDecl()->getName();
      if (name == "real") return shape.scalar = Type::Real, shape;
      if (name == "index") return shape.scalar = Type::Index, shape;
    }
    const clang::QualType next = t.getSingleStepDesugaredType(context_);
    if (next == t) break;
    t = next;
  }
  const clang::QualType plain = type.getCanonicalType().getUnqualifiedType();
  const bool cunbody = pipeline_.dialect == Dialect::Cunbody;
  if (plain == context_.FloatTy) return shape.scalar = cunbody ? Type::Real : Type::Float, shape;
  if (plain == context_.DoubleTy) return shape.scalar = Type::Double, shape;
  if (plain == context_.IntTy || plain == context_.UnsignedIntTy) return shape.scalar = Type::Int, shape;
  if (plain == context_.LongLongTy) return shape.scalar = Type::Index, shape;
  if (plain == context_.BoolTy) return shape.scalar = Type::Bool, shape;
  if (const auto* record = plain->getAsCXXRecordDecl()) {
    const llvm::StringRef name = record->getName();
    if (name == "__array") return shape_of_array(type, where, of_param, most);
    if (name == "complex") return shape.width = 2, shape.is_complex = true, shape;
    if (name == "vec2" || name == "vec3" || name == "vec4") return shape.width = name.back() - '0', shape;
    if (name.starts_with("bvec")) return shape.scalar = Type::Bool, shape.width = name.back() - '0', shape;
    if (name.starts_with("mat") && shape.length > 0) throw Rejected{where, "there are no arrays of matrices"};
    if (name.starts_with("mat")) return shape.length = shape.width = name.back() - '0', shape.is_matrix = true, shape;
  }
  throw Rejected{where, fmt::format("the type '{}' is not in the language", type.getAsString())};
}

// The shape of an array of real numbers, a type of the prelude. The type as it is written tells real from float.
Shape Lowering::shape_of_array(clang::QualType type, clang::SourceLocation where, bool of_param, int most) {
  const auto* const record =
      llvm::cast<clang::ClassTemplateSpecializationDecl>(type.getCanonicalType()->getAsCXXRecordDecl());
  const llvm::APSInt& given = record->getTemplateArgs()[1].getAsIntegral();
  const auto* const written = type->getAs<clang::TemplateSpecializationType>();
  Shape shape = shape_of(
      written ? written->template_arguments()[0].getAsType() : record->getTemplateArgs()[0].getAsType(), where);
  if (given < 1 || given > most)
    throw Rejected{where, fmt::format("{} may have 1 to {} elements, not {}", of_param ? "a param" : "an array", most,
                                      given.getExtValue())};
  shape.length = int(given.getExtValue());
  return shape;
}

// True for the reductions that act on the real and the imaginary part by themselves.
static bool can_be_complex(Reduction r) { return r == Reduction::Sum || r == Reduction::Softmax || r == Reduction::At; }

static std::optional<Reduction> reduction_named(llvm::StringRef name) {
  for (int r = 0; r < kReductions; ++r)
    if (std::string_view(name.data(), name.size()) == nbcc::name(Reduction(r))) return Reduction(r);
  return std::nullopt;
}

Shape Lowering::shape_of_field(const clang::VarDecl* variable, const Field& field) {
  const bool is_long = field.role == Role::Param || (field.role == Role::Output && is_sum(field.reduction));
  return shape_of(variable->getType(), variable->getLocation(), field.role == Role::Param,
                  is_long ? kMaxElements : kMaxComponents);
}

// `annotation` comes from the prelude's macro: "input_i", "input_j", "input_pair", "param", "output:max".
Field Lowering::field_named(const clang::VarDecl* variable, llvm::StringRef annotation) {
  const clang::SourceLocation where = variable->getLocation();
  Field field;
  field.name = variable->getName().str();
  field.where = location(where);
  if (auto comment = prescanned_.comments.find(field.where.line); comment != prescanned_.comments.end())
    field.comment = comment->second;
  if (annotation == "input_i")
    field.role = Role::InputI;
  else if (annotation == "input_j")
    field.role = Role::InputJ;
  else if (annotation == "input_pair")
    field.role = Role::InputPair;
  else if (annotation == "param")
    field.role = Role::Param;
  else {
    field.role = Role::Output;
    annotation.consume_front("output:");
    const auto [first, second] = annotation.split(',');
    field.kind = first.trim() == "total"       ? FieldKind::Total
                 : annotation.trim() == "pair" ? FieldKind::Pair
                                               : FieldKind::Particle;
    llvm::StringRef named = !field.is_total() ? annotation : annotation.contains(',') ? second.trim() : "sum";
    if (field.is_of_pair()) named = "sum";
    const auto reduction = reduction_named(named);
    if (!reduction)
      throw Rejected{where, fmt::format("'{}' is no reduction; there are {}", named.str(), all_reductions("@", "and"))};
    field.reduction = *reduction;
    if (field.is_total() && !can_be_total(*reduction))
      throw Rejected{where, fmt::format("'{0}' is no reduction of a total; there are output(total), which sums, and "
                                        "output(total, min), max, count, product and logsumexp",
                                        named.str())};
  }
  const Shape shape = shape_of_field(variable, field);
  if (is_unsigned(variable->getType()))
    throw Rejected{where, "a field is int or index; convert its value by unsigned(...)"};
  if (shape.scalar == Type::Bool && shape.width > 1)
    throw Rejected{where, "the result of comparing vectors can be a variable only, not a field"};
  field.type = shape.scalar;
  field.length = shape.length;
  field.columns = shape.columns;
  field.width = shape.width;
  field.is_complex = shape.is_complex;
  if (std::int64_t(shape.length) * shape.width > kMaxElements)
    throw Rejected{
        where, fmt::format("{} may have 1 to {} numbers, not {}", field.role == Role::Param ? "a param" : "an output",
                           kMaxElements, shape.components())};
  if (field.role != Role::Output) field.kind = kind_of(field.role);
  if (field.role == Role::Param && shape.length > kMaxComponents) field.kind = FieldKind::Table;
  field.first = pipeline_.components(field.role);
  return field;
}

void Lowering::declare_field(const clang::VarDecl* variable, llvm::StringRef annotation) {
  const clang::SourceLocation where = variable->getLocation();
  if (variable->isLocalVarDecl()) throw Rejected{where, "a field is declared at the top level, not inside a block"};
  Field field = field_named(variable, annotation);
  const bool arg = field.role == Role::Output && keeps_index(field.reduction);
  if (arg && field.length > kMaxIndices)
    throw Rejected{where, fmt::format("an output({}) keeps 1 to {} indices, not {}", name(field.reduction), kMaxIndices,
                                      field.length)};
  if (arg && field.type != Type::Index)
    throw Rejected{where, fmt::format("an output({}) keeps a j_index: declare it as 'index'", name(field.reduction))};
  if (field.role == Role::Output && field.type == Type::Bool)
    throw Rejected{where, "an output cannot be bool; declare it as 'int'"};
  if (field.role == Role::Output && is_exponential(field.reduction) && field.type < Type::Float)
    throw Rejected{where, fmt::format("an output({}) is no whole number: declare it as 'real', 'float' or 'double'",
                                      name(field.reduction))};
  if (field.role == Role::Output && field.reduction == Reduction::Count && field.type >= Type::Float)
    throw Rejected{where, "an output(count) is a whole number: declare it as 'int' or 'index'"};
  if (field.role == Role::Output && field.is_complex && !can_be_complex(field.reduction))
    throw Rejected{where, fmt::format("an output({}) cannot be complex: {}", name(field.reduction),
                                      field.reduction == Reduction::Min || field.reduction == Reduction::Max
                                          ? "complex numbers have no order; reduce norm(z), real(z) or imag(z)"
                                          : "write it with real(z) and imag(z), or sum a function of z")};
  const Value initial = initial_value(variable, shape_of_field(variable, field));
  if (initial.parts[0] != kUnset) {
    if (field.role != Role::Param)
      throw Rejected{
          where, fmt::format("{} '{}' cannot have an initial value; only a param can", name(field.role), field.name)};
    for (NodeId part : initial.parts) {
      if (part < 0 || !graph_->is_constant(part))
        throw Rejected{where,
                       fmt::format("the default of param '{}' is not a constant; compute it in a variable of its own",
                                   field.name)};
      field.defaults.push_back(graph_->constant_value(part));
    }
  }
  fields_[variable] = int(pipeline_.fields.size());
  pipeline_.fields.push_back(field);
  if (field.role == Role::Output) contributed_.resize(std::size_t(pipeline_.components(Role::Output)));
}

// The lengths of INPUT_I, INPUT_J and OUTPUT are stated by IDIM, JDIM, FDIM. If they are not, a first run of lowering,
// with very long arrays, finds the largest index that the text uses; an index may be the result of a loop.
void Lowering::declare_cunbody_arrays() {
  std::map<std::string, const clang::VarDecl*> arrays;
  for (const clang::Decl* declaration : context_.getTranslationUnitDecl()->decls())
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration); variable && in_prelude(variable))
      arrays[variable->getName().str()] = variable;
  std::map<const clang::VarDecl*, int> largest;
  if (!measuring_) {
    std::vector<Diagnostic> discarded;
    Lowering measure(context_, prescanned_, source_, discarded, array_assignments_);
    measure.measuring_ = true;
    measure.run();
    largest = measure.largest_index_;
  }
  const auto add = [&](const char* array, Role role, const std::optional<int>& stated) {
    const clang::VarDecl* variable = arrays.at(array);
    const auto found = largest.find(variable);
    const int used = found == largest.end() ? 0 : found->second + 1;
    Field field;
    field.name = array;
    field.role = role;
    if (const auto known = prescanned_.arrays.find(array); known != prescanned_.arrays.end())
      field.where = known->second;
    field.length = stated.value_or(measuring_ ? kCunbodyLength : used);
    if (field.length < 1) return;
    fields_[variable] = int(pipeline_.fields.size());
    pipeline_.fields.push_back(field);
  };
  add("INPUT_I", Role::InputI, prescanned_.idim);
  add("INPUT_J", Role::InputJ, prescanned_.jdim);
  add("OUTPUT", Role::Output, prescanned_.fdim);
  contributed_.resize(std::size_t(pipeline_.components(Role::Output)));
}

}  // namespace nbcc::lowering
