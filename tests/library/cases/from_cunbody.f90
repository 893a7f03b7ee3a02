! The shared numeric cases through CUNBODY-1's interface in Fortran: gravity by force(), and the pipeline of numbered
! fields by cunbody_api(), both of the library's module; and what they say to arguments that are wrong.
!
!   from_cunbody CASES single|mixed|double      the precision of the library, which is called nbody
program from_cunbody
  use case_file
  use nbody, only: force, cunbody_api
  implicit none
  call open_cases()
  do while (next_case())
    if (pipeline == "gravity") then
      call run_force()
    else
      call run_rows()
    end if
  end do
  close (unit)
  call wrong_arguments()
  print "(3a, i0, a, i0, a)", "CUNBODY from Fortran, ", trim(precision), ": ", done, " cases, ", failures, " failures"
  if (done == 0 .or. failures > 0) error stop 1

contains

  function rows(field, width, n) result(array)
    character(len=*), intent(in) :: field
    integer, intent(in) :: width
    integer(c_int64_t), intent(in) :: n
    real(c_double) :: array(width, n)
    array = reshape(numbers(field, width * n), [int(width, c_int64_t), n])
  end function

  subroutine run_force()
    real(c_double), allocatable :: xi(:, :), xj(:, :), mj(:), passed_over(:)
    real(c_double) :: acc(3, ni), eps2
    xi = rows("xi", 3, ni)
    xj = rows("xj", 3, nj)
    mj = numbers("mj", nj)
    eps2 = param("eps2")
    call force(xj, mj, xi, eps2, acc, int(ni, c_int), int(nj, c_int))
    call compare("acc", reshape(acc, [size(acc)]), 0d0)
    ! force() gives no potential.
    passed_over = numbers("pot", ni)
    passed_over = numbers("single", ni)
    passed_over = numbers("double", ni)
  end subroutine

  subroutine run_rows()
    real(c_double), allocatable :: xi(:, :), xj(:, :)
    real(c_double) :: f(3, ni)
    xi = rows("INPUT_I", 4, ni)
    xj = rows("INPUT_J", 4, nj)
    call expect(cunbody_api(xj, xi, f, int(ni, c_int), int(nj, c_int)) == 0, "cunbody_api()")
    call compare("OUTPUT", reshape(f, [size(f)]), 0d0)
  end subroutine

  subroutine wrong_arguments()
    real(c_double) :: xj(4, 1), xi(4, 2), f(3, 2), a(3, 2)
    xj = 1
    xi = 0
    f = 7
    a = 7
    call expect(cunbody_api(xj, xi, f, -2_c_int, 1_c_int) /= 0, "a negative number of i")
    call expect(all(f == 7), "f without any i")
    call expect(cunbody_api(xj, xi, f, 2_c_int, -1_c_int) /= 0, "a negative number of j")
    call expect(all(f /= f), "f after mistakes is NaN")
    call force(xj(1:3, :), xj(4, :), xi(1:3, :), 0d0, a, -2_c_int, 1_c_int)
    call expect(all(a == 7), "a without any i")
    call force(xj(1:3, :), xj(4, :), xi(1:3, :), 0d0, a, 2_c_int, -1_c_int)
    call expect(all(a /= a), "a after mistakes is NaN")
  end subroutine
end program
