// The functions of a CPU kernel's code, by name. A function of CpuCode is a row here, which the toolchain, compiled
// libraries and the runtime read.
#pragma once
#include <array>
#include <string_view>
#include <type_traits>

#include "runtime/cpu/cpu_toolchain.h"

namespace nbcc {

using CpuFunction = void (*)();

struct CpuFunctionRow {
  std::string_view name;  // without "nbcc_"
  void (*set)(CpuCode& code, CpuFunction function);
  bool is_in_all = false;  // every kernel has it
};

template <auto member>
void set_cpu_function(CpuCode& code, CpuFunction function) {
  code.*member = reinterpret_cast<std::remove_reference_t<decltype(code.*member)>>(function);
}
template <int side>
void set_cpu_indices(CpuCode& code, CpuFunction function) {
  code.indices[side] = reinterpret_cast<nbcc_indices_function>(function);
}

// Compiled libraries have these functions in this order: append only.
inline constexpr std::array kCpuFunctions = {
    CpuFunctionRow{"prepare_i", set_cpu_function<&CpuCode::prepare_i>, true},
    CpuFunctionRow{"prepare_j", set_cpu_function<&CpuCode::prepare_j>, true},
    CpuFunctionRow{"interact", set_cpu_function<&CpuCode::interact>},
    CpuFunctionRow{"finish", set_cpu_function<&CpuCode::finish>, true},
    CpuFunctionRow{"locate_i", set_cpu_function<&CpuCode::locate_i>},
    CpuFunctionRow{"locate_j", set_cpu_function<&CpuCode::locate_j>},
    CpuFunctionRow{"extent", set_cpu_function<&CpuCode::extent>},
    CpuFunctionRow{"indices_i", set_cpu_indices<0>},
    CpuFunctionRow{"indices_j", set_cpu_indices<1>},
    CpuFunctionRow{"indices_pair", set_cpu_indices<2>},
    CpuFunctionRow{"within", set_cpu_function<&CpuCode::within>},
    CpuFunctionRow{"interact_numbered", set_cpu_function<&CpuCode::interact_numbered>},
    CpuFunctionRow{"interact_symmetric", set_cpu_function<&CpuCode::interact_symmetric>},
    CpuFunctionRow{"interact_half_list", set_cpu_function<&CpuCode::interact_half_list>},
    CpuFunctionRow{"interact_excluding", set_cpu_function<&CpuCode::interact_excluding>},
    CpuFunctionRow{"listed_sizes", set_cpu_function<&CpuCode::listed_sizes>},
    CpuFunctionRow{"begin_listed_once", set_cpu_function<&CpuCode::begin_listed_once>},
    CpuFunctionRow{"end_listed_once", set_cpu_function<&CpuCode::end_listed_once>},
    CpuFunctionRow{"interact_listed_once", set_cpu_function<&CpuCode::interact_listed_once>},
    CpuFunctionRow{"boxes_of_vectors", set_cpu_function<&CpuCode::boxes_of_vectors>},
};

}  // namespace nbcc
