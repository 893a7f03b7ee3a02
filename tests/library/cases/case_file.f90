! The file of cases, read field by field, for the programs in Fortran: what write_cases.cpp says is in it.
module case_file
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: unit = 11
  character(len=64) :: pipeline = "", kind_of_case = ""
  character(len=16) :: precision = ""
  integer(c_int64_t) :: ni = 0, nj = 0
  integer :: failures = 0, done = 0

contains

  ! The arguments of such a program: the file of cases, which is opened, and the precision.
  subroutine open_cases()
    character(len=1024) :: path
    if (command_argument_count() /= 2) error stop 2
    call get_command_argument(1, path)
    call get_command_argument(2, precision)
    open (unit, file=path, action="read", status="old")
  end subroutine

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(len=*), intent(in) :: what
    if (is_so) return
    print *, "wrong: ", what
    failures = failures + 1
  end subroutine

  ! The next field of the file, which must be this one.
  function numbers(field, count) result(values)
    character(len=*), intent(in) :: field
    integer(c_int64_t), intent(in) :: count
    real(c_double) :: values(count)
    character(len=64) :: name
    integer(c_int64_t) :: length
    read (unit, *) name, length
    if (name /= field .or. length /= count) then
      print *, trim(pipeline), " has no such field here: ", field
      error stop 2
    end if
    if (count > 0) read (unit, *) values
  end function

  real(c_double) function param(field)
    character(len=*), intent(in) :: field
    real(c_double) :: values(1)
    values = numbers(field, 1_c_int64_t)
    param = values(1)
  end function

  ! The next output of the file against what was summed, which was rounded to `rounding` on its way.
  subroutine compare(field, got, rounding)
    character(len=*), intent(in) :: field
    real(c_double), intent(in) :: got(:), rounding
    real(c_double) :: expected(size(got)), bounds(size(got)), fine_bounds(size(got))
    integer(c_int64_t) :: k, count
    count = size(got, kind=c_int64_t)
    expected = numbers(field, count)
    bounds = numbers("single", count)
    fine_bounds = numbers("double", count)
    if (precision == "double") bounds = fine_bounds
    do k = 1, count
      if (got(k) == expected(k) .or. (got(k) /= got(k) .and. expected(k) /= expected(k))) cycle
      if (abs(got(k) - expected(k)) <= bounds(k) + rounding * abs(expected(k))) cycle
      print *, trim(pipeline), ni, nj, trim(kind_of_case), " ", field, k, got(k), expected(k), bounds(k)
      failures = failures + 1
      return
    end do
  end subroutine

  logical function next_case()
    read (unit, *) pipeline, ni, nj, kind_of_case
    next_case = pipeline /= "end"
    if (next_case) done = done + 1
  end function
end module
