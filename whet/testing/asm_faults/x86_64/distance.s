    .text
    .globl distance
    .type distance, @function
distance:
    mov %edi, %eax
    sub %esi, %eax
    mov %esi, %ecx
    sub %edi, %ecx
    cmp %esi, %edi
    cmovle %ecx, %eax
    ret
    .size distance, . - distance
    .section .note.GNU-stack, "", @progbits
