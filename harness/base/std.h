/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C library, errors, growing arrays and the clock. Sources do not include headers of the C
 * library that this header includes. */
#pragma once

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BB_LEN(array) (sizeof(array) / sizeof((array)[0]))
/* the plural ending after the number `n`: "" or "s" */
#define bb_plural(n) ((n) == 1 ? "" : "s")

/* An error: a negative errno, and a message for the user that says what failed, where, and what to
 * do. Functions that can fail take a bb_err as their last parameter, and return 0 or its `code`.
 * Only cli/ and main.c print the message. */
struct bb_err {
	int code; /* -errno; 0 if nothing has failed */
	char msg[4096];
};

/* Sets code and message of `err`, which may be NULL. In `fmt`, %m is the text of `code`. */
int bb_fail(struct bb_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* True if `code` (-errno) means that descriptors or memory ran out. Such an error says nothing
 * about the kernel's features or a BPF object. */
bool bb_is_shortage(int code);

enum bb_exit {
	BB_EXIT_OK = 0,
	BB_EXIT_FAILURE = 1,
	BB_EXIT_USAGE = 2,
	BB_EXIT_REGRESSION = 3,
	BB_EXIT_UNSUPPORTED = 4,
};

/* If memory runs out, these functions print a message and end the process, so they never return
 * NULL. For sizes that untrusted data choose, use malloc(3) instead. */
#define BB_EXIT_NO_MEMORY BB_EXIT_FAILURE
void bb_out_of_memory(void) __attribute__((noreturn));
void *bb_calloc(size_t n, size_t size); /* zeroed memory; not NULL for 0 bytes either */
char *bb_strdup(const char *text);
char *bb_strndup(const char *text, size_t len);
void *bb_memdup(const void *data, size_t size);
char *bb_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *bb_vasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Maps zeroed anonymous pages, with flags of mmap(2) such as MAP_SHARED. */
void *bb_map_pages(size_t size, int flags);

/* Like open_memstream(3) and fclose(3). After the close, `*ret_text` is the text; free() it. */
FILE *bb_open_memstream(char **ret_text, size_t *ret_len);
void bb_close_memstream(FILE *stream);

/* Appends a zeroed item to the array `*items` of `*n` items, and returns the item. `items` is the
 * address of the pointer to the array. The array has no stored capacity: when `*n` is a power of
 * two, bb_append() doubles the memory. So only bb_append() may make and grow the array. */
void *bb_append(void *items, size_t *n, size_t item_size);

/* Appends an item to the array `items` of `n` items. The item is a value or (TYPE){...}, evaluated
 * after the array has grown. */
#define BB_PUSH(items, n, ...)                                                                     \
	do {                                                                                       \
		__typeof__(items) bb_item = bb_append(&(items), &(n), sizeof(*bb_item));           \
		*bb_item = (__VA_ARGS__);                                                          \
	} while (0)

/* BB_FIND() is the address of the first item of items[n] for which `cond` holds, or NULL. BB_ANY()
 * is true if there is such an item. In `cond`, `it` is the address of the item. */
#define BB_FIND(items, n, cond)                                                                    \
	({                                                                                         \
		__typeof__(*(items)) *it, *bb_found = NULL;                                        \
		for (size_t bb_nth = 0; !bb_found && bb_nth < (n); bb_nth++) {                     \
			it = &(items)[bb_nth];                                                     \
			bb_found = (cond) ? it : NULL;                                             \
		}                                                                                  \
		bb_found;                                                                          \
	})
#define BB_ANY(items, n, cond) (BB_FIND(items, n, cond) != NULL)

/* Removes from items[n] the items for which `cond` holds, and changes `n`. The last argument is a
 * statement that frees what the item owns. In the arguments, `it` is the address of the item. */
#define BB_REMOVE(items, n, cond, ...)                                                             \
	do {                                                                                       \
		size_t bb_left = 0;                                                                \
		for (size_t bb_nth = 0; bb_nth < (n); bb_nth++) {                                  \
			__typeof__(&(items)[0]) it = &(items)[bb_nth];                             \
			if (cond)                                                                  \
				__VA_ARGS__;                                                       \
			else                                                                       \
				(items)[bb_left++] = *it;                                          \
		}                                                                                  \
		(n) = bb_left;                                                                     \
	} while (0)

/* Keeps the items for which `cond` holds, and frees nothing. */
#define BB_KEEP(items, n, cond) BB_REMOVE(items, n, !(cond), (void)it)

/* Returns the number of items for which `cond` holds. They must stand before all other items,
 * because the macro uses binary search. In `cond`, `it` is the address of the item. */
#define BB_N_LEADING(items, n, cond)                                                               \
	({                                                                                         \
		size_t bb_low = 0, bb_high = (n);                                                  \
		while (bb_low < bb_high) {                                                         \
			size_t bb_mid = bb_low + (bb_high - bb_low) / 2;                           \
			__typeof__(&(items)[0]) it = &(items)[bb_mid];                             \
			if (cond)                                                                  \
				bb_low = bb_mid + 1;                                               \
			else                                                                       \
				bb_high = bb_mid;                                                  \
		}                                                                                  \
		bb_low;                                                                            \
	})

/* Returns the sum of `value` over items[n]. If `value` is a condition, this is the number of items
 * that fulfil it. In `value`, `it` is the address of the item. */
#define BB_SUM(items, n, value)                                                                    \
	({                                                                                         \
		size_t bb_sum = 0;                                                                 \
		for (size_t bb_nth = 0; bb_nth < (n); bb_nth++) {                                  \
			__typeof__(&(items)[0]) it = &(items)[bb_nth];                             \
			bb_sum += (value);                                                         \
		}                                                                                  \
		bb_sum;                                                                            \
	})

/* `items` is the address of the pointer to the array; n > 0. */
void bb_resize(void *items, size_t n, size_t item_size);

/* Makes room for n items in an array with room for `*size` items, by doubling `*size`. `items` is
 * the address of the pointer to the array. */
void bb_reserve(void *items, size_t n, size_t *size, size_t item_size);

/* For qsort(3): -1, 0 or 1. */
#define BB_ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* A list v[n] of texts that somebody else owns. */
struct bb_strings {
	const char *const *v;
	size_t n;
};

static inline uint64_t bb_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline double bb_seconds_since(uint64_t since_ns)
{
	return (double)(bb_now_ns() - since_ns) * 1e-9;
}
