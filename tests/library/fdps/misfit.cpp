// Does not compile: CLASS says which class does not fit, and how.
#include <forces_fdps.hpp>

struct Particle {
  PS::F64vec pos, acc;
  PS::F64 mass, pot;
};
struct WithoutMass {
  PS::F64vec pos;
};
struct OfShorts {
  PS::F64vec pos;
  short mass;
};
struct OfTwo {
  PS::F64 pos[2], mass;
};
class Hidden {
  PS::F64 mass = 1;

 public:
  PS::F64vec pos;
  PS::F64 getCharge() const { return mass; }
};

int main() {
  Particle i;
  CLASS j;
  forces::gravity_functor{}(&i, 1, &j, 1, &i);
}
