// Neighbourhood -> functions of a CPU kernel. Entry point: cpu_locate().
#include "compiler/emit/cpu/cpu_locate.h"

#include "compiler/text/fill_template.h"

namespace nbcc {

std::string cpu_locate(const Neighbourhood& n, const Plan& plan, const ScalarSpelling& spelling,
                       const CpuVectors& vectors, CpuExpressions& expressions) {
  const LocateText text = locate_text(n, plan, spelling, {"rows[{}][i]", "rows[{}][j]", "extent[{}]"});
  CpuPairBody one_i(plan, vectors, expressions, 1);
  return fill_template("cpu_locate.cpp", {{"i", text.i},
                                          {"j", text.j},
                                          {"extent", text.extent},
                                          {"lanes", std::to_string(vectors.lanes())},
                                          {"before_within", one_i.before_within()},
                                          {"within", one_i.within()}});
}

}  // namespace nbcc
