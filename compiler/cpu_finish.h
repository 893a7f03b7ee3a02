// What is done once per i after its sums, as CPU text: common factors, then finish(). Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/cpu_expression.h"
#include "compiler/ir.h"
#include "compiler/plan.h"

namespace nbcc {

std::string cpu_finish(const Pipeline& pipeline, const Plan& plan, CpuExpressions& expressions);

const char* c_element(Element element);

}  // namespace nbcc
