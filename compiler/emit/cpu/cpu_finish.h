// What is done once per i after its sums, as CPU text: common factors, then finish(). Part of emit_cpu.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_expression.h"
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"

namespace nbcc {

std::string cpu_finish(const Pipeline& pipeline, const Plan& plan, CpuExpressions& expressions);

const char* c_element(Element element);

}  // namespace nbcc
