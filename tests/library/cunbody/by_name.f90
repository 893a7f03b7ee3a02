! force() and cunbody_api() by name alone, as programs that know no module call them: r = 5 without softening, and a
! mass of 250; the second particle stands on the other side.
program main
  implicit none
  double precision :: xj(3, 1), mj(1), xi(3, 2), i_rows(4, 2), j_rows(4, 1), a(3, 2), f(3, 2)
  integer :: ni, nj
  external :: force, cunbody_api

  ni = 2
  nj = 1
  xj(:, 1) = [4d0, 5d0, 1d0]
  mj = 250
  xi = reshape([1d0, 1d0, 1d0, 7d0, 9d0, 1d0], [3, 2])
  call force(xj, mj, xi, 0d0, a, ni, nj)
  if (any(abs(a(:, 1) - [6d0, 8d0, 0d0]) > 1d-5)) error stop "force() of the first particle"
  if (any(abs(a(:, 2) + [6d0, 8d0, 0d0]) > 1d-5)) error stop "force() of the second particle"

  i_rows(1:3, :) = xi
  i_rows(4, :) = 0
  j_rows(1:3, :) = xj
  j_rows(4, :) = mj
  call cunbody_api(j_rows, i_rows, f, ni, nj)
  if (any(f /= a)) error stop "cunbody_api() and force() differ"
end program
