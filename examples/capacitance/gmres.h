// Linear equations whose matrix is known by its products with vectors only.
#pragma once
#include <functional>
#include <vector>

namespace examples {

// Writes the product of the matrix and the first vector into the second one.
using TimesMatrix = std::function<void(const std::vector<double>&, std::vector<double>&)>;

struct Solved {
  int products;     // of the matrix and a vector, with those that check the residual
  double residual;  // |b - A x| / |b|, from a product with the x that is returned
};

// Solves A x = b by GMRES (Y. Saad & M. H. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856), restarted every 50 steps
// and preconditioned from the right by the inverse of `diagonal`. x holds the first guess and then the solution, whose
// |b - A x| is at most tolerance |b|. Throws std::runtime_error with the residual that was reached, if two cycles in
// sequence do not halve it: the matrix is too difficult, or its products are less accurate than the tolerance.
Solved solve(const TimesMatrix& times_a, const std::vector<double>& diagonal, const std::vector<double>& b,
             std::vector<double>& x, double tolerance);

}  // namespace examples
