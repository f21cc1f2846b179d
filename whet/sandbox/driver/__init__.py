"""The program in C and assembly that calls a native function; `whet.sandbox.toolchains.driver` compiles it."""
