#include "compiler/passes/facts/magnitudes.h"

#include <gtest/gtest.h>

#include "tests/support/pass_dump.h"

namespace nbcc {
namespace {

// What a text forms, and products of its leaves to be asked for.
class Formed {
 public:
  explicit Formed(const char* statements)
      : pipeline_(test::cleaned(statements)),
        magnitudes_(pipeline_.pair, reachable(pipeline_.pair, pipeline_.roots())) {}

  // xi^a xj^b mj^c
  bool covers(double a, double b, double c, double constant = 0) const {
    Magnitude m;
    m.constant = constant;
    m.add(of(Op::InputI, 0), a);
    m.add(of(Op::InputJ, 0), b);
    m.add(of(Op::InputJ, 1), c);
    return magnitudes_.covers(m);
  }
  double widest_power_of_xi() const { return magnitudes_.widest_power(find(Op::InputI, 0)); }

 private:
  NodeId find(Op op, int component) const {
    for (NodeId id = 0; id < pipeline_.pair.size(); ++id)
      if (pipeline_.pair[id].op == op && pipeline_.pair[id].payload == component) return id;
    return kNone;
  }
  Magnitude of(Op op, int component) const {
    const NodeId id = find(op, component);
    return id == kNone ? Magnitude{} : magnitudes_.of(id);
  }

  Pipeline pipeline_;
  Magnitudes magnitudes_;
};

TEST(Magnitudes, AValueItsRootsAndItsReciprocalAreCovered) {
  const Formed formed("real q = xi / xj; s += q * q * q;");
  for (const double t : {3.0, 1.5, 1.0, 0.5, -0.5, -3.0}) EXPECT_TRUE(formed.covers(t, -t, 0)) << t;
}

TEST(Magnitudes, APowerBeyondTheTextsIsNot) {
  const Formed formed("real q = xi / xj; s += q * q * q;");
  EXPECT_FALSE(formed.covers(3.5, -3.5, 0));
  EXPECT_FALSE(formed.covers(3, 0, 0));
  EXPECT_FALSE(formed.covers(1, 1, 0));
}

TEST(Magnitudes, SmallConstantsDoNotMatterAndLargeOnesDo) {
  const Formed formed("s += 1e20 * xi * xj;");
  EXPECT_TRUE(formed.covers(1, 1, 0, 66));
  EXPECT_TRUE(formed.covers(1, 1, 0, 60));
  EXPECT_FALSE(formed.covers(1, 1, 0, 0));
}

TEST(Magnitudes, WhatIsDeadIsNotFormed) { EXPECT_FALSE(Formed("real dead = xi * xj; s += xi + xj;").covers(1, 1, 0)); }

TEST(Magnitudes, TheWidestPowerIsThatOfTheText) {
  EXPECT_EQ(Formed("s += xi;").widest_power_of_xi(), 1);
  EXPECT_EQ(Formed("s += 1.0 / (xi * sqrt(xi));").widest_power_of_xi(), 1.5);
  EXPECT_EQ(Formed("s += pow(xi, -6.0);").widest_power_of_xi(), 6);
}

}  // namespace
}  // namespace nbcc
