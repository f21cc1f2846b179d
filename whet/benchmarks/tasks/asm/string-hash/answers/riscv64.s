    .text
    .p2align 1
    .globl string_hash
    .type string_hash, @function
string_hash:
    add a1, a0, a1
    li t0, 0
    beq a0, a1, .Ldone
.Lone:
    lbu t1, 0(a0)
    addi a0, a0, 1
    slliw t2, t0, 5                 # 32 times less once
    subw t2, t2, t0
    addw t0, t2, t1
    bne a0, a1, .Lone
.Ldone:
    mv a0, t0
    ret
    .size string_hash, .-string_hash
    .section .note.GNU-stack,"",@progbits
