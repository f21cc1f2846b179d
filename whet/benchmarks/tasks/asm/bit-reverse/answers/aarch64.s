    .text
    .p2align 2
    .globl bit_reverse
    .type bit_reverse, %function
bit_reverse:
    subs x2, x2, #4
    b.lt .Lfew
.Lfour:
    ldr q0, [x0], #16
    rev32 v0.16b, v0.16b
    rbit v0.16b, v0.16b
    str q0, [x1], #16
    subs x2, x2, #4
    b.ge .Lfour
.Lfew:
    adds x2, x2, #4
    b.eq .Ldone
.Lone:
    ldr w3, [x0], #4
    rbit w3, w3
    str w3, [x1], #4
    subs x2, x2, #1
    b.ne .Lone
.Ldone:
    ret
    .size bit_reverse, .-bit_reverse
    .section .note.GNU-stack,"",%progbits
