! The same in Fortran: complex numbers.
program from_fortran
  use, intrinsic :: iso_c_binding
  use expectations
  use complexes
  implicit none
  complex(c_double) :: a(2), b(2, 3), k, s(2), t(2, 2), whole, wanted
  complex(c_float) :: s_f(2)
  complex(c_double), parameter :: i = (0d0, 1d0)
  real(c_double) :: f(2)
  integer :: n

  a = [(1d0, 2d0), (-3d0, 0d0)]
  b = reshape([(1d0, 0d0), i, (2d0, -1d0), (4d0, 0d0), (0d0, 5d0), (1d0, 1d0)], [2, 3])
  f = [1d0, 2d0]
  k = (0.5d0, -1d0)
  call expect(waves(2_c_int64_t, a, f, 3_c_int64_t, b, k, s, t, whole) == 0)
  do n = 1, 2
    wanted = sum(a(n) * conjg(b(1, :)) + k)
    call expect(s(n) == wanted)
    call expect(t(1, n) == (5d0, 2d0))
    call expect(t(2, n) == f(n) * (3d0, 4d0))
  end do
  call expect(whole == (a(1) + a(2)) * (5d0, 2d0))
  call expect(waves(2_c_int64_t, cmplx(a, kind=c_float), real(f, c_float), 3_c_int64_t, cmplx(b, kind=c_float), k, s_f) == 0)
  call expect(s_f(2) == cmplx(s(2), kind=c_float))
  if (failed) stop 1
end program
