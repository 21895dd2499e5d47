/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/process_sample.h"

#include "perf_profiler.h"

/* a stack frame of its own, so that profilers show the function */
#define FRAME __attribute__((noinline))

int bb_sample_log__flush(struct bb_sample_log *log)
{
	size_t done = 0;

	while (log->fd >= 0 && done < log->used) {
		ssize_t n = write(log->fd, log->text + done, log->used - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	log->used = 0;
	return 0;
}

/* The put_ functions write text at `at` and return its end. They do not call snprintf(), which
 * would be most of the cost of a sample. */
static char *put_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return at + len;
}

static char *put_decimal(char *at, uint64_t value, unsigned int least_digits)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value || n < least_digits);
	while (n)
		*at++ = digits[--n];
	return at;
}

static char *put_address(char *at, uint64_t value)
{
	int shift = value ? (63 - __builtin_clzll(value)) & ~3 : 0;

	at = put_text(at, "0x");
	for (; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[value >> shift & 15];
	return at;
}

static int log_line(const struct bb_sample_header *h, const uint64_t *stack,
		    struct bb_sample_log *log)
{
	uint64_t frames = h->stack_len / sizeof(*stack);
	int rc = log->size - log->used < BB_SAMPLE_LINE_BYTES ? bb_sample_log__flush(log) : 0;
	char *at = log->text + log->used;

	if (rc)
		return rc;
	at = put_decimal(at, h->ktime_ns / 1000000000u, 1);
	*at++ = '.';
	at = put_decimal(at, h->ktime_ns % 1000000000u, 9);
	at = put_decimal(put_text(at, " pid "), h->pid, 1);
	at = put_decimal(put_text(at, " tid "), h->tid, 1);
	at = put_decimal(put_text(at, " frames "), frames, 1);
	if (frames) {
		at = put_address(put_text(at, " "), stack[0]);
		at = put_address(put_text(at, ".."), stack[frames - 1]);
	}
	*at++ = '\n';
	log->used = (size_t)(at - log->text);
	log->lines++;
	return 0;
}

static int process(const void *data, size_t size, struct bb_sample_log *log)
{
	const struct bb_sample *s = data;

	if (size < sizeof(s->header) || s->header.stack_len > size - sizeof(s->header) ||
	    s->header.stack_len % sizeof(s->stack[0]))
		return -EINVAL;
	int rc = log_line(&s->header, (const uint64_t *)s->stack, log);
	/* otherwise the compiler makes the call a jump, and the caller's stack frame is missing */
	__asm__ volatile("");
	return rc;
}

static FRAME int process_fixed(const void *data, size_t size, struct bb_sample_log *log)
{
	return process(data, size, log);
}

static FRAME void sleep_ms(const volatile uint64_t *ms)
{
	struct timespec left = {(time_t)(*ms / 1000), (long)(*ms % 1000) * 1000000};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static FRAME int process_oops(const void *data, size_t size, struct bb_sample_log *log)
{
	/* volatile keeps the compiler from removing the heap allocation */
	volatile uint64_t *ms = malloc(sizeof(*ms));
	struct timespec now;

	if (!ms)
		return -ENOMEM;
	clock_gettime(CLOCK_REALTIME, &now);
	*ms = (uint64_t)now.tv_nsec / 1000000;
	sleep_ms(ms);
	free((void *)(uintptr_t)ms);
	return process(data, size, log);
}

const struct bb_sample_processor bb_process_sample_fixed = {
	.name = "fixed",
	.process = process_fixed,
	.doc = "checks the sample and logs a line",
};

const struct bb_sample_processor bb_process_sample_oops = {
	.name = "oops",
	.process = process_oops,
	.doc = "sleeps for the milliseconds of the current second first: the planted bug",
};

static const struct bb_sample_processor *const all[] = {&bb_process_sample_fixed,
							&bb_process_sample_oops};

const struct bb_sample_processor *bb_sample_processor_find(const char *name)
{
	for (size_t i = 0; i < BB_LEN(all); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}
