/* Put in front of quickjs.c, and of nothing else.
 *
 * QuickJS switches its stack check off where `__wasi__` is defined: endless recursion would then end in a trap,
 * which names neither the function nor the line. Everything in quickjs.c that really depends on WASI comes from
 * headers. They are read here, before the macro goes; their guards keep them from being read again. */
#include <stdlib.h>
#include <stdio.h>
#include <stdarg.h>
#include <inttypes.h>
#include <string.h>
#include <assert.h>
#include <sys/time.h>
#include <time.h>
#include <math.h>
#include "cutils.h"
#undef __wasi__

/* QuickJS deals out small blocks itself, from a page for each size, so that one call writes to as many pages as it uses
 * sizes. This leaves it to our allocator, which keeps what belongs to a call together; quickjs.c asks for the macro for
 * nothing else. */
#define __SANITIZE_ADDRESS__ 1
