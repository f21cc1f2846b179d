! Heat spreads over a plate whose rim is held: stdin gives its side, the steps and the temperatures.
program heat
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: side, steps, step, i, j
  real(dp), allocatable :: now(:, :), after(:, :)

  read (*, *) side, steps
  allocate (now(side, side), after(side, side))
  do i = 1, side
    read (*, *) (now(i, j), j = 1, side)
  end do
  do step = 1, steps
    after = now
    do i = 2, side - 1
      do j = 2, side - 1
        after(i, j) = now(i, j) + 0.2_dp * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1) - 4.0_dp * now(i, j))
      end do
    end do
    now = after
  end do
  do i = 1, side
    write (*, '(f0.6)') sum(now(i, :))
  end do
end program heat
