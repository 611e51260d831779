/* Assembly of the SDK, by processor. */
#if defined(__riscv) && __riscv_xlen == 64
#include "riscv64/start.S"
#include "riscv64/portal.S"
#include "riscv64/thread.S"
#else
#error "the C SDK has no assembly for this processor: add a folder beside riscv64/"
#endif
