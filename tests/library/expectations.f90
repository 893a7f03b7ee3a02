! Counts what a Fortran program of a test expects.
module expectations
  implicit none
  logical :: failed = .false.
contains
  subroutine expect(holds)
    logical, intent(in) :: holds
    integer, save :: number = 0
    number = number + 1
    if (.not. holds) print *, "expectation", number, "does not hold"
    failed = failed .or. .not. holds
  end subroutine
end module
