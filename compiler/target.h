// The properties of the target machine that the passes use.
#pragma once

namespace nbcc {

struct Target {
  // Largest relative error of the hardware's estimate of 1/sqrt(x) over the entire range of the type;
  // 0: the hardware has no estimate, so that square root and division are used.
  double rsqrt_error_float = 0;
  double rsqrt_error_double = 0;
  bool fused = true;        // the target has a fused multiply-add
  bool fast_exp2 = false;   // exp2 in single precision is one instruction
  bool predicated = false;  // any instruction can be predicated at no extra cost
};

}  // namespace nbcc
