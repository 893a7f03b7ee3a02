// Clang's message -> the language's message. Entry point: reword(). A message without a rule is not changed.
#include "compiler/source/reword.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

#include "compiler/source/vocabulary.h"

namespace nbcc {
namespace {

// Removes Clang's " (aka '...')": users do not know that `real` is a typedef and `vec3` a class.
std::string without_aka(std::string message) {
  for (std::size_t at; (at = message.find(" (aka '")) != std::string::npos;) {
    const std::size_t end = message.find("')", at);
    if (end == std::string::npos) break;
    message.erase(at, end + 2 - at);
  }
  return message;
}

// __array<float, 3>, the prelude's type of arrays of real numbers, as it is declared. The types of results have names
// of the prelude, after which Clang shows what they are.
std::string with_declared_arrays(std::string message) {
  static const std::regex of_result(R"('[^']*__\w+<[^']*' \(aka '([^']*)'\))");
  message = std::regex_replace(message, of_result, "'$1'");
  static const std::regex array(R"(__array<(\w+), (?:[^<>]* aka )?\(?([^<>]*?)\)?(?:LL)?>)");
  return std::regex_replace(std::regex_replace(message, array, "$1[$2]"), std::regex(R"(\bfloat\[)"), "real[");
}

// The n-th quoted text, counted from 0.
std::string quoted(std::string_view message, int n) {
  for (;; --n) {
    const std::size_t begin = message.find('\'');
    if (begin == std::string_view::npos) return {};
    const std::size_t end = message.find('\'', begin + 1);
    if (end == std::string_view::npos) return {};
    if (n == 0) return std::string(message.substr(begin + 1, end - begin - 1));
    message.remove_prefix(end + 1);
  }
}

std::string behind(std::string_view message, std::string_view mark) {
  const std::size_t at = message.find(mark);
  return at == std::string_view::npos ? std::string(message) : std::string(message.substr(at + mark.size()));
}

bool is_matrix(std::string_view type) { return type.starts_with("mat"); }

bool is_vector(std::string_view type) {
  return type.find("vec") != std::string_view::npos && type.find('[') == std::string_view::npos;
}

std::string components(std::string_view vector) {
  const char width = vector.empty() ? '3' : vector.back();
  return width == '2' ? "x and y" : width == '3' ? "x, y and z" : "x, y, z and w";
}

std::string operator_at(std::string_view line, int column) {
  std::string result;
  for (std::size_t k = std::size_t(std::max(column, 1)) - 1; k < line.size() && result.size() < 3; ++k) {
    if (std::string_view("+-*/%<>=!&|^~").find(line[k]) == std::string_view::npos) break;
    // `a*-b`: the second sign begins the operand.
    if (!result.empty() && line[k] != '=' && line[k] != result[0]) break;
    result += line[k];
  }
  return result.empty() ? "this operator" : fmt::format("'{}'", result);
}

std::string conversion(const std::string& from, const std::string& wanted) {
  const std::string to = wanted == "unsigned int" ? "unsigned" : wanted;
  if (from == "complex" && is_vector(to))
    return fmt::format("a complex number cannot become a {}; write vec2(real(z), imag(z))", to);
  if (from == "complex") return "a complex number cannot become a real one; write real(z), imag(z) or abs(z)";
  if (to == "complex" && is_vector(from))
    return fmt::format("a {} cannot become a complex number; write complex(v.x, v.y)", from);
  if (is_vector(to) && is_vector(from)) return fmt::format("a {} cannot become a {}", from, to);
  if (is_vector(to)) return fmt::format("a scalar cannot become a {0}; write {0}(s)", to);
  if (from.starts_with("bvec") || from.starts_with("bool["))
    return fmt::format("a {} cannot become a single {}; write any(...) or all(...)", from, to);
  if (from.find('[') != std::string::npos && to.find_first_of("[*") == std::string::npos)
    return fmt::format("a {} cannot become a single {}; take one of its elements, sum(v) or dot(v, w)", from, to);
  if (is_vector(from))
    return fmt::format("a {} cannot become a single {}; take one of its components, or dot(a, b)", from, to);
  if (to.find('*') != std::string::npos) return "a pointer is not in the language; use an array and a constant index";
  return fmt::format("a value of type '{}' cannot become one of type '{}'", from, to);
}

std::string operands(std::string_view message, std::string_view line, int column) {
  const std::string a = quoted(message, 0), b = quoted(message, 1), op = operator_at(line, column);
  if (a.find('[') != std::string::npos && b.find('[') != std::string::npos)
    return fmt::format("{} combines arrays of one length, of real numbers, not '{}' and '{}'", op, a, b);
  if (a == "void" || b == "void") return "a function that returns nothing has no value; it stands alone as a statement";
  if (op.starts_with("'%")) return "'%' needs whole numbers, of type int or index";
  if (op.starts_with("'<<") || op.starts_with("'>>") || op.starts_with("'&'") || op.starts_with("'|'") ||
      op.starts_with("'^"))
    return refused_operator(op.substr(1, op.size() - 2));
  if (b == "complex" && op.ends_with("='")) return conversion(b, a);
  const bool has_array = a.find('[') != std::string::npos || b.find('[') != std::string::npos;
  return fmt::format("{} cannot combine '{}' and '{}'{}", op, a, b,
                     has_array ? "; sum(v) and dot(v, w) make a number of arrays" : "");
}

std::string constructor(const std::string& type) {
  const char width = type.empty() ? '?' : type.back();
  if (type.starts_with("bvec")) return fmt::format("a {} is made by comparing two vectors only", type);
  if (type == "complex") return "a complex number is made of its real part, or of its real and its imaginary part";
  if (is_matrix(type))
    return fmt::format("a {0} is made of {1} rows, each a vec{1}, or of one number for its diagonal", type, width);
  return fmt::format("a {} is made of {} numbers, or of one for all components", type, width);
}

// The message about a unary operator that does not fit its operand's type.
std::string sign_of(const std::string& type, std::string_view line, int column) {
  const std::string op = operator_at(line, column);
  if (op == "'~'") return refused_operator("~");
  return fmt::format("{} cannot be applied to a '{}'", op, type);
}

std::string no_match(const std::string& function, bool own) {
  const std::string form = own ? "" : signature(function);
  if (form.empty()) return fmt::format("the arguments do not fit the function '{}'", function);
  return fmt::format("the arguments do not fit '{}': it is written {}", function, form);
}

struct Rule {
  std::string_view begins;
  std::string_view says;  // the new message; {0} and {1} are replaced by the first two quoted texts
};
constexpr Rule kRules[] = {
    {"cannot increment value of type", "++ and -- are of real and whole numbers, and this is a '{0}'"},
    {"cannot decrement value of type", "++ and -- are of real and whole numbers, and this is a '{0}'"},
    {"excess elements in scalar initializer", "a conversion takes one value"},
    {"excess elements in struct initializer", "excess elements in array initializer"},
    {"cannot assign to variable", "'{0}' is read only"},
    {"cannot assign to non-static data member", "'{0}' belongs to something that is read only"},
    {"cannot assign to return value", "this is read only"},
    {"read-only variable is not assignable", "this is read only"},
    {"expression is not assignable", "only a variable, an element or a component can be assigned"},
    {"value of type", "a condition must be a single value, and this is a '{0}'"},
    {"incompatible operand types", "the two values of ?: must be two numbers, or two vectors of one length"},
    {"expected ';' after", "expected ';' or an operator here"},
    {"expected ';' at end of declaration", "expected ';' or an operator here"},
    {"no viable overloaded", "the two sides do not fit '{0}'"},
    {"member reference base type", "a '{0}' has no components"},
    {"called object type", "only functions can be called, and this is a '{0}'"},
    {"subscripted value is not", "only an array or a vector has elements"},
    {"array subscript is not an integer", "an index must be a whole number, of type int or index"},
    {"expected unqualified-id", "expected a name of the text's own"},
    {"conversion from", "an array needs a constant length"},  // an array length
    {"cannot combine with previous", "expected a name, and this is a second type"},
    {"variable has incomplete type", "a variable cannot be '{0}'"},
    {"non-type template argument is not", "an array needs a constant length"},
    {"variable length array declaration", "an array needs a constant length"},
    {"definition of variable with array type needs", "an array needs a constant length"},
    {"array type", "an array cannot be assigned as a whole; assign its elements"},
    {"function definition is not allowed here", "a function is defined at the top level, not inside a block"},
    {"default initialization of an object of const type", "a const variable needs a value"},
    {"reference to overloaded function could not be resolved",
     "a function must be called, with its arguments in parentheses"},
    {"indirection requires pointer", "a pointer is not in the language; use an array and a constant index"},
    {"integer literal is too large", "this whole number is too large; write it with a decimal point"},
};

}  // namespace

std::string reword(std::string message, std::string_view line, int column,
                   const std::set<std::string, std::less<>>& own_names) {
  message = without_aka(with_declared_arrays(std::move(message)));
  const auto begins = [&](std::string_view text) { return message.starts_with(text); };
  const std::string first = quoted(message, 0), second = quoted(message, 1);
  // The prelude declares functions that are not in the language as deleted, with the message to print.
  if (begins("candidate function not viable")) return behind(message, "viable: ");
  if (begins("overload resolution selected deleted operator")) return behind(message, "': ");
  if (begins("call to deleted function")) return behind(message, "': ");
  if (begins("use of undeclared identifier") && own_names.contains(first))
    return fmt::format("'{}' is declared further down, so that it is no longer the built-in function", first);
  if (begins("use of undeclared identifier") || begins("unknown type name"))
    if (const std::string remedy = remedy_of(first); !remedy.empty())
      return message.substr(0, message.find("; did you mean")) + remedy;
  if (begins("use of undeclared identifier") && message.find("did you mean") == std::string::npos)
    return message + did_you_mean(first, WordKind::Value);
  if (begins("unknown type name") && message.find("did you mean") == std::string::npos)
    return message + did_you_mean(first, WordKind::Type,
                                  "; the types are real, float, double, int, unsigned, index, bool, complex, vec2 to "
                                  "vec4 and mat2 to mat4");
  if (begins("no member named") && is_built_in(first)) return fmt::format("'{0}' is a function; write {0}(v)", first);
  if (begins("no member named") && is_matrix(second))
    return fmt::format("a {} has the rows [0] to [{}], and no '{}'", second, second.back() - '1', first);
  if (begins("no member named") && second == "complex")
    return fmt::format("a complex number has no '{}'; write real(z) and imag(z)", first);
  if (begins("no member named"))
    return fmt::format("a {} has the components {}, and no '{}'", second, components(second), first);
  if (begins("invalid operands to binary expression")) return operands(message, line, column);
  if (begins("no viable conversion from") || begins("cannot convert")) return conversion(first, second);
  if (begins("assigning to") || begins("cannot initialize")) return conversion(second, first);
  if (begins("no matching constructor")) return constructor(first);
  if (begins("no matching conversion")) return constructor(second);
  if (begins("invalid argument type")) return sign_of(first, line, column);
  if (begins("no matching function for call to")) return no_match(first, own_names.contains(first));
  for (const Rule& rule : kRules)
    if (begins(rule.begins)) return fmt::format(fmt::runtime(rule.says), first, second);
  return message;
}

}  // namespace nbcc
