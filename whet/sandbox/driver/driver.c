/* Calls one native function on many cases, and writes down what came of each. It knows no expected value.
 *
 * usage: driver LIBRARY SYMBOL <CASES >RECORDS
 *
 * Buffers lie in rooms: memory between pages that nobody may touch. What the function only reads is mapped read-only;
 * the driver fills it through a second mapping of the same memory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "wire.h"

#define GUARD (1 << 20)
#define STACK_BYTES (8 << 20)
#define SIGNAL_STACK (1 << 18)
#define MOST_ROOMS 64
#define GARBAGE 1024
#define RED_ZONE 128
#define SCRIBBLED 512

_Static_assert(offsetof(struct call, scratch) == OF_SCRATCH, "scratch");
_Static_assert(offsetof(struct call, before) == OF_BEFORE, "before");
_Static_assert(offsetof(struct call, after) == OF_AFTER, "after");
_Static_assert(offsetof(struct call, sp) == OF_SP, "sp");
_Static_assert(offsetof(struct call, own_sp) == OF_OWN_SP, "own_sp");
_Static_assert(offsetof(struct call, vectors) == OF_VECTORS, "vectors");

struct mapped {
    char *seen; /* by the function */
    char *ours;
    uint64_t bytes;
    uint64_t writable;
};

void *whet_target;
struct call *whet_current;
uint64_t whet_misuse; /* set by what stands before the functions that the subject may call */

static struct mapped rooms[MOST_ROOMS];
static struct header header;
static struct call call;
static struct greeting greeting;
static char *stack; /* lowest byte */
static const struct given *now;
static enum { BEFORE, WITHIN, OVER } stepping;
static uint64_t steps;
static uint64_t steps_left;

static char out[1 << 20];
static size_t filled;

static void fail(const char *why) {
    fprintf(stderr, "driver: %s\n", why);
    _exit(4);
}

static void flush(void) {
    for (size_t at = 0; at < filled;) {
        ssize_t put = write(1, out + at, filled - at);
        if (put <= 0) _exit(5);
        at += put;
    }
    filled = 0;
}

static void emit(const void *data, size_t size) {
    while (size) {
        size_t part = size < sizeof out - filled ? size : sizeof out - filled;
        memcpy(out + filled, data, part);
        filled += part;
        data = (const char *)data + part;
        size -= part;
        if (filled == sizeof out) flush();
    }
}

static void emit_padded(const void *data, size_t size) {
    static const char zeros[8];
    emit(data, size);
    emit(zeros, -size & 7);
}

/* Returns the cases, which nobody can write to. */
static const char *read_all(size_t *size) {
    struct stat file;
    if (fstat(0, &file) || !file.st_size) fail("cannot read");
    const char *data = mmap(NULL, file.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, 0, 0);
    if (data == MAP_FAILED) fail("cannot read");
    *size = file.st_size;
    return data;
}

/* Returns bytes between two guards, the whole of it untouchable as yet. */
static char *guarded(uint64_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *base = mmap(NULL, bytes + 2 * GUARD, PROT_NONE, flags, -1, 0);
    if (base == MAP_FAILED) fail("no memory");
    return base + GUARD;
}

static void open_room(struct mapped *room, const struct room *wanted, int file, uint64_t at) {
    int rights = wanted->writable ? PROT_READ | PROT_WRITE : PROT_READ;
    room->bytes = wanted->bytes;
    room->writable = wanted->writable;
    room->seen = guarded(wanted->bytes);
    room->ours = mmap(NULL, wanted->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
    void *seen = mmap(room->seen, wanted->bytes, rights, MAP_SHARED | MAP_FIXED, file, at);
    if (room->ours == MAP_FAILED || seen == MAP_FAILED) fail("no memory for buffers");
}

static void open_rooms(const struct room *wanted) {
    uint64_t total = 0;
    int file = open(".rooms", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || unlink(".rooms")) fail("cannot make a file for buffers");
    for (uint64_t i = 0; i < header.regions; i++) total += wanted[i].bytes;
    if (ftruncate(file, total)) fail("no room for buffers");
    for (uint64_t i = 0, at = 0; i < header.regions; at += wanted[i++].bytes) open_room(&rooms[i], &wanted[i], file, at);
    close(file);
    stack = guarded(STACK_BYTES);
    if (mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE)) fail("no memory for a stack");
}

/* What a signal tells of the place where it came. */

#if defined __x86_64__
static uint64_t pc_of(const ucontext_t *context) { return context->uc_mcontext.gregs[REG_RIP]; }
static uint64_t sp_of(const ucontext_t *context) { return context->uc_mcontext.gregs[REG_RSP]; }
static uint64_t access_of(const ucontext_t *context, const unsigned char *instruction) {
    uint64_t error = context->uc_mcontext.gregs[REG_ERR];
    (void)instruction;
    return error & 16 ? EXECUTES : error & 2 ? WRITES : READS;
}

#define TRAP_FLAG 0x100

/* Carry, parity, adjust, zero, sign and overflow are anything; interrupts stay as they are. */
static uint64_t entry_flags(uint64_t garbage) { return (garbage & 0x8d5) | 0x202 | (now->step && steps_left ? TRAP_FLAG : 0); }

static int is_step(const siginfo_t *info) { return now && now->step && stepping != OVER && info->si_code == TRAP_TRACE; }

/* Counts an instruction, and spoils the stack below the red zone: a signal could come at any time. */
static void take_step(ucontext_t *context) {
    uint64_t pc = pc_of(context), sp = sp_of(context);
    if (stepping == BEFORE && pc == (uint64_t)whet_target)
        stepping = WITHIN;
    else if (stepping == WITHIN)
        steps++, steps_left--;
    if (stepping == BEFORE) return;
    if (pc == (uint64_t)whet_returned || !steps_left) {
        stepping = OVER;
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    } else if (sp >= (uint64_t)stack + RED_ZONE + SCRIBBLED && sp <= (uint64_t)stack + STACK_BYTES) {
        memset((char *)sp - RED_ZONE - SCRIBBLED, 0xa5, SCRIBBLED);
    }
}

static uint64_t vector_level(void) {
    return __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
}
#else
static uint64_t entry_flags(uint64_t garbage) { return garbage & 0xf0000000; } /* of AArch64: all four conditions */
static int is_step(const siginfo_t *info) { (void)info; return 0; }
static void take_step(ucontext_t *context) { (void)context; }
static uint64_t vector_level(void) { return 0; }
#if defined __aarch64__
static uint64_t pc_of(const ucontext_t *context) { return context->uc_mcontext.pc; }
static uint64_t sp_of(const ucontext_t *context) { return context->uc_mcontext.sp; }
/* Bit 22 tells loads from stores, but for loads of one register that extend the sign: those have bit 23. */
static uint64_t access_of(const ucontext_t *context, const unsigned char *instruction) {
    unsigned group = instruction[3], details = instruction[2];
    (void)context;
    if (!(group & 0x08) || group & 0x02) return TOUCHES;
    return details & 0x40 || ((group & 0x3c) == 0x38 && details & 0x80) ? READS : WRITES;
}
#elif defined __riscv
static uint64_t pc_of(const ucontext_t *context) { return context->uc_mcontext.__gregs[REG_PC]; }
static uint64_t sp_of(const ucontext_t *context) { return context->uc_mcontext.__gregs[REG_SP]; }
static uint64_t access_of(const ucontext_t *context, const unsigned char *instruction) {
    unsigned opcode = instruction[0] & 0x7f;
    (void)context;
    if ((opcode & 3) != 3) /* compressed: its highest bit tells stores from loads, in both groups that touch memory */
        return (opcode & 3) == 1 ? TOUCHES : instruction[1] & 0x80 ? WRITES : READS;
    return opcode == 0x03 || opcode == 0x07 ? READS : opcode == 0x23 || opcode == 0x27 ? WRITES : TOUCHES;
}
#endif
#endif

static int within(uint64_t address, const char *start, uint64_t bytes, uint64_t margin) {
    return address >= (uint64_t)start - margin && address < (uint64_t)start + bytes + margin;
}

static void locate(struct fault *fault, uint64_t address) {
    fault->room = NO_ROOM;
    fault->offset = address;
    for (uint64_t i = 0; i < header.regions; i++)
        if (within(address, rooms[i].seen, rooms[i].bytes, GUARD)) {
            fault->room = i;
            fault->offset = address - (uint64_t)rooms[i].seen;
        }
    if (within(address, stack, STACK_BYTES, GUARD)) {
        fault->room = STACK_ROOM;
        fault->offset = address - call.sp;
    }
}

static void on_signal(int number, siginfo_t *info, void *place) {
    ucontext_t *context = place;
    if (number == SIGTRAP && is_step(info)) {
        take_step(context);
        return;
    }
    uint64_t pc = pc_of(context);
    struct fault fault = {
        .nonce = now ? now->nonce : 0,
        .status = number,
        .steps = steps,
        .pc = pc - greeting.subject,
        .inside = pc >= greeting.start && pc < greeting.end,
        .sp = sp_of(context) - call.sp,
        .code = (uint64_t)info->si_code,
    };
    if (fault.inside) memcpy(fault.instruction, (const void *)pc, sizeof fault.instruction);
    fault.access = access_of(context, fault.instruction);
    locate(&fault, number == SIGSEGV || number == SIGBUS ? (uint64_t)info->si_addr : 0);
    if ((uint64_t)info->si_addr == pc && !fault.inside) fault.access = EXECUTES;
    emit(&fault, sizeof fault);
    flush();
    _exit(0);
}

static void catch_signals(void) {
    static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGPROF};
    static char memory[SIGNAL_STACK];
    stack_t own = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) sigaction(caught[i], &action, NULL);
}

/* Cases. */

static uint64_t word(uint64_t value, uint8_t room) {
    return room ? (uint64_t)rooms[room - 1].seen + value : value;
}

static void lay(const struct content **contents) {
    for (uint64_t i = 0; i < header.regions; i++) {
        const struct content *one = contents[i];
        memset(rooms[i].ours, (int)now->fill, rooms[i].bytes);
        memcpy(rooms[i].ours + one->offset, one + 1, one->held);
    }
}

static void set_registers(void) {
    uint64_t *top = (uint64_t *)(stack + STACK_BYTES) - (STACKED + FRAME);
    for (int i = 0; i < VECTORS * VECTOR / 8; i++)
        ((uint64_t *)call.vectors)[i] = ((uint64_t *)header.vectors)[i] ^ now->scratch[i % SCRATCH];
    for (int i = 0; i < INTS; i++) call.ints[i] = word(now->ints[i], now->int_rooms[i]);
    for (int i = 0; i < FLOATS; i++) memcpy(call.vectors[i], &now->floats[i], sizeof now->floats[i]);
    memcpy(call.scratch, now->scratch, sizeof call.scratch);
    memcpy(call.before, now->before, sizeof call.before);
    memset(call.after, 0, sizeof call.after);
    for (uint64_t i = 0; i < now->stacked; i++) top[i] = word(now->stack[i], now->stack_rooms[i]);
    memcpy(top + now->stacked, now->frame, sizeof now->frame);
    memset((char *)top - GARBAGE, (int)now->fill, GARBAGE);
    call.sp = (uint64_t)top;
    call.entry_flags = entry_flags(now->scratch[SCRATCH - 1]);
}

static void set_timer(uint64_t milliseconds) {
    struct itimerval timer = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static int all(const char *memory, uint64_t bytes, char fill) {
    return !bytes || (*memory == fill && !memcmp(memory, memory + 1, bytes - 1));
}

/* Returns where memory around the buffers was changed, as near to them as can be. */
static uint64_t stray(const struct mapped *room, const struct content *content, char fill) {
    uint64_t end = content->offset + content->length;
    if (!all(room->ours + end, room->bytes - end, fill)) {
        while (room->ours[end] == fill) end++;
        return end;
    }
    uint64_t start = content->offset;
    if (all(room->ours, start, fill)) return UINT64_MAX;
    while (room->ours[start - 1] == fill) start--;
    return start - 1;
}

static void report(const struct content **contents) {
    const uint64_t *frame = (const uint64_t *)call.sp + now->stacked;
    struct record record = {
        .nonce = now->nonce,
        .steps = !now->step ? 0 : !steps_left ? STEPS_CUT : stepping != OVER ? STEPS_HIDDEN : steps,
        .returned = call.returned & header.returned_mask,
        .returned_float = call.returned_float & header.float_mask,
        .sp = call.sp_after - call.sp,
        .flags = call.flags,
        .control = call.control,
        .x87 = call.x87,
        .externs = whet_misuse,
    };
    memcpy(record.after, call.after, sizeof record.after);
    memcpy(record.frame, frame, sizeof record.frame);
    emit(&record, sizeof record);
    for (uint64_t i = 0; i < header.regions; i++) {
        if (!rooms[i].writable) continue;
        struct written written = {stray(&rooms[i], contents[i], (char)now->fill), contents[i]->length};
        emit(&written, sizeof written);
        emit_padded(rooms[i].ours + contents[i]->offset, contents[i]->length);
    }
}

/* Returns what follows a case; `left` is counted down, and ends the driver where a case is cut short. */
static const char *piece(const char **at, size_t *left, size_t size) {
    const char *found = *at;
    size = (size + 7) & ~(size_t)7;
    if (size > *left) fail("a case is cut short");
    *left -= size;
    *at += size;
    return found;
}

static void run_case(const char **at, size_t *left) {
    const struct content *contents[MOST_ROOMS];
    const struct given *given = (const struct given *)piece(at, left, sizeof *given);
    for (uint64_t i = 0; i < header.regions; i++) {
        contents[i] = (const struct content *)piece(at, left, sizeof **contents);
        piece(at, left, contents[i]->held);
        if (contents[i]->held > contents[i]->length) fail("a buffer holds too much");
        if (contents[i]->offset + contents[i]->length > rooms[i].bytes) fail("a buffer is too long");
    }
    now = given;
    lay(contents);
    set_registers();
    whet_misuse = 0;
    stepping = BEFORE;
    steps = 0;
    set_timer(header.milliseconds);
    whet_call(&call);
    report(contents);
}

/* The subject. */

static int find_code(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type == PT_LOAD && part->p_flags & PF_X && greeting.subject >= start && greeting.subject < end) {
            greeting.start = start;
            greeting.end = end;
        }
    }
    return greeting.end != 0;
}

static void load(const char *library, const char *symbol) {
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!opened && dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL)) opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    whet_target = opened ? dlsym(opened, symbol) : NULL;
    if (!whet_target) fail(dlerror());
    greeting.subject = (uint64_t)whet_target;
    dl_iterate_phdr(find_code, NULL);
}

int main(int count, char **words) {
    size_t left;
    if (count != 3) fail("usage: driver LIBRARY SYMBOL");
    load(words[1], words[2]);
    const char *at = read_all(&left);
    close(0); /* else what comes could be read again from within a call */
    memcpy(&header, piece(&at, &left, sizeof header), sizeof header);
    if (header.regions > MOST_ROOMS) fail("too many buffers");
    steps_left = header.most_steps;
    open_rooms((const struct room *)piece(&at, &left, header.regions * sizeof(struct room)));
    catch_signals();
    call.level = vector_level();
    emit(&greeting, sizeof greeting);
    flush();
    for (uint64_t i = 0; i < header.cases; i++) run_case(&at, &left);
    emit(&header.closing, sizeof header.closing);
    flush();
    return 0;
}
