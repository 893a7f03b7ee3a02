! force() and cunbody_api() by the library's module: r = 5 without softening, and a mass of 250; the second particle
! stands on the other side.
program main
  use, intrinsic :: iso_c_binding
  use nbody, only: force, cunbody_api
  implicit none
  real(c_double) :: xj(3, 1), mj(1), xi(3, 2), i_rows(4, 2), j_rows(4, 1), a(3, 2), f(3, 2)

  xj(:, 1) = [4d0, 5d0, 1d0]
  mj = 250
  xi = reshape([1d0, 1d0, 1d0, 7d0, 9d0, 1d0], [3, 2])
  call force(xj, mj, xi, 0d0, a, 2, 1)
  if (any(abs(a(:, 1) - [6d0, 8d0, 0d0]) > 1d-5)) error stop "force() of the first particle"
  if (any(abs(a(:, 2) + [6d0, 8d0, 0d0]) > 1d-5)) error stop "force() of the second particle"

  i_rows(1:3, :) = xi
  i_rows(4, :) = 0
  j_rows(1:3, :) = xj
  j_rows(4, :) = mj
  if (cunbody_api(j_rows, i_rows, f, 2, 1) /= 0) error stop "cunbody_api() failed"
  if (any(f /= a)) error stop "cunbody_api() and force() differ"
  if (cunbody_api(j_rows, i_rows, f, 2, -1) == 0) error stop "a negative count is not refused"
  if (.not. all(f /= f)) error stop "a failure does not leave NaN"
end program
