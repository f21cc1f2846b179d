    .text
    .p2align 2
    .globl inet_checksum
    .type inet_checksum, %function
inet_checksum:
    mov x2, #0                      // sum of the parts as the machine reads them
    subs x1, x1, #8
    b.lt .Lrest
.Leight:
    ldr x3, [x0], #8
    adds x2, x2, x3
    adc x2, x2, xzr
    subs x1, x1, #8
    b.ge .Leight
.Lrest:
    tbz w1, #2, .Ltwo
    ldr w3, [x0], #4
    adds x2, x2, x3
    adc x2, x2, xzr
.Ltwo:
    tbz w1, #1, .Lone
    ldrh w3, [x0], #2
    adds x2, x2, x3
    adc x2, x2, xzr
.Lone:
    tbz w1, #0, .Lfold
    ldrb w3, [x0]
    adds x2, x2, x3
    adc x2, x2, xzr
.Lfold:
    lsr x3, x2, #32
    adds w2, w2, w3
    adc w2, w2, wzr
    lsr w3, w2, #16
    add w2, w3, w2, uxth
    add w2, w2, w2, lsr #16         // the carry of the last addition
    mvn w2, w2
    rev16 w2, w2
    and w0, w2, #0xffff
    ret
    .size inet_checksum, .-inet_checksum
    .section .note.GNU-stack,"",%progbits
