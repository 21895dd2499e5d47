/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C library for every file: headers include it, and a .c file gets it with its header. */
#pragma once

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define BB_LEN(array) (sizeof(array) / sizeof((array)[0])) /* number of elements */
