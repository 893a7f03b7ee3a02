! The same in Fortran: a total is a variable, or an array of its components; one that is not present is ignored.
program from_fortran
  use, intrinsic :: iso_c_binding
  use expectations
  use totals
  implicit none
  real(c_double) :: x(3, 3), m(3), a(4), b(2), force(3, 3), energy, moment(3), most(2), product_of, least, g(500)
  integer(c_int32_t) :: pairs
  integer(c_int64_t) :: indices, n(500)

  x = reshape([0d0, 0d0, 0d0, 1d0, 0d0, 0d0, 0d0, 2d0, 0d0], [3, 3])
  m = [1d0, 2d0, 4d0]
  a = [1d0, 2d0, 3d0, 4d0]
  b = [10d0, 20d0]
  call expect(energies(3_c_int64_t, x, m, 3_c_int64_t, x, m, force, energy, moment, most, pairs, indices) == 0)
  call expect(energy == 116)
  call expect(all(moment == sum(force, dim=2)))
  call expect(most(1) == 4 .and. most(2) == 4)
  call expect(pairs == 3)
  call expect(indices == 9)
  energy = 7
  most = 7
  call expect(energies(3_c_int64_t, x, m, 3_c_int64_t, x, m, most=most) == 0)
  call expect(energy == 7)
  call expect(most(2) == 4)
  call expect(alone(4_c_int64_t, a, 2_c_int64_t, b, 3d0, product_of, least) == 0)
  call expect(product_of == 900)
  call expect(least == 11)
  least = 7
  call expect(alone(4_c_int64_t, a, 2_c_int64_t, b, 2d0, product_of) == 0)
  call expect(product_of == 600)
  call expect(least == 7)
  n = 7
  g = 7
  call expect(histograms(4_c_int64_t, a, 2_c_int64_t, b, [0.5d0, 0.25d0], n, g) == 0)
  call expect(sum(n) == 8 .and. all(n(12:15) == 1) .and. all(n(22:25) == 1))
  call expect(sum(g) == 3 .and. all(g(22:25) == 0.25d0))
  if (failed) stop 1
end program
