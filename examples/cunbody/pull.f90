! The same from Fortran, through force(): positions and masses as they are, in rows that C would call [n][3].
program pull
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine force(xj, mj, xi, eps2, a, ni, nj) bind(c, name='force')
      import :: c_double, c_int
      real(c_double), intent(in) :: xj(3, *), mj(*), xi(3, *)
      real(c_double), value :: eps2
      real(c_double), intent(out) :: a(3, *)
      integer(c_int), value :: ni, nj
    end subroutine
  end interface
  real(c_double) :: x(3, 3), m(3), a(3, 3)
  integer :: k
  x = reshape([0d0, 0d0, 0d0, 1d0, 0d0, 0d0, 0d0, 2d0, 0d0], [3, 3])
  m = [1d0, 1d0, 4d0]
  call force(x, m, x, 1d-12, a, 3_c_int, 3_c_int)
  do k = 1, 3
    print '(3f7.3)', a(:, k)
  end do
end program
