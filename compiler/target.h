// What the passes must know of the machine that the kernel is for.
#pragma once

namespace nbcc {

struct Target {
  // Largest relative error of the hardware's estimate of 1/sqrt(x) over the whole range of the type;
  // 0: there is no such estimate, and square root and division are used.
  double rsqrt_error_float = 0;
  double rsqrt_error_double = 0;
  bool fused = true;        // has a fused multiply-add
  bool fast_exp2 = false;   // computes powers of two in one instruction, in single precision
  bool predicated = false;  // any instruction may be made conditional, at no cost beyond the condition's
};

}  // namespace nbcc
