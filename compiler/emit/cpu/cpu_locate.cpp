// Neighbourhood -> functions of a CPU kernel. One door: cpu_locate().
#include "compiler/emit/cpu/cpu_locate.h"

#include "compiler/text/fill_template.h"

namespace nbcc {

std::string cpu_locate(const Neighbourhood& n, const Plan& plan, const ScalarSpelling& spelling) {
  const LocateText text = locate_text(n, plan, spelling, {"rows[{}][i]", "rows[{}][j]", "extent[{}]"});
  return fill_template("cpu_locate.cpp", {{"i", text.i}, {"j", text.j}, {"extent", text.extent}});
}

}  // namespace nbcc
