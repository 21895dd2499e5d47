/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clean.h"

#include "base/text.h"

enum { UTF8_MAX = 4, CHUNK = 4096 };

struct stream {
	int fd;
	/* bytes of an incomplete character, with room for a NUL */
	char held[UTF8_MAX + 1];
	size_t n_held;
	char chunk[CHUNK]; /* safe text, still to be written to `fd` */
	size_t n;
};

/* std[0] is stdout, std[1] is stderr. */
static struct {
	FILE *file;
	struct stream *stream;
} std[2];

static bool ends_by_sigpipe;
static _Thread_local int write_error; /* errno of the last failed write to any stream but stderr */

void bb_clean__end_by_sigpipe(void)
{
	ends_by_sigpipe = true;
}

static bool send_chunk(struct stream *s)
{
	for (size_t at = 0; at < s->n;) {
		ssize_t n = write(s->fd, s->chunk + at, s->n - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE && ends_by_sigpipe && s == std[0].stream) {
			signal(SIGPIPE, SIG_DFL);
			raise(SIGPIPE);
		}
		if (n < 0) {
			if (s != std[1].stream)
				write_error = errno;
			s->n = 0;
			return false;
		}
		at += (size_t)n;
	}
	s->n = 0;
	return true;
}

static bool append_clean(struct stream *s, const char *text, size_t n)
{
	if (s->n + n > CHUNK && !send_chunk(s))
		return false;
	memcpy(s->chunk + s->n, text, n);
	s->n += n;
	return true;
}

/* Moves characters from `held` to the chunk, with '?' for unsafe ones. An incomplete character
 * stays in `held`, unless `is_end` says that no more bytes follow. */
static bool settle(struct stream *s, bool is_end)
{
	while (s->n_held) {
		unsigned char first = (unsigned char)s->held[0];
		size_t want = first < 0xc2   ? 1
			      : first < 0xe0 ? 2
			      : first < 0xf0 ? 3
			      : first < 0xf5 ? 4
					     : 1;
		size_t len, have = 1;
		bool is_break = s->held[0] == '\n' || s->held[0] == '\t';

		while (have < s->n_held && have < want && (s->held[have] & 0xc0) == 0x80)
			have++;
		if (!is_end && have == s->n_held && have < want)
			return true;
		s->held[s->n_held] = '\0';
		len = is_break ? 1 : bb_shown_len(s->held);
		if (!append_clean(s, len ? s->held : "?", len ? len : 1))
			return false;
		len = len ? len : 1;
		s->n_held -= len;
		memmove(s->held, s->held + len, s->n_held);
	}
	return true;
}

/* The write function of fopencookie(3). Returns n, or 0 after an error. */
static ssize_t clean_write(void *cookie, const char *data, size_t n)
{
	struct stream *s = cookie;
	bool well = true;

	for (size_t i = 0; well && i < n; i++) {
		if (!s->n_held && data[i] >= ' ' && data[i] < 0x7f) {
			well = append_clean(s, &data[i], 1);
			continue;
		}
		s->held[s->n_held++] = data[i];
		well = settle(s, false);
	}
	return well && send_chunk(s) ? (ssize_t)n : 0;
}

static int clean_close(void *cookie)
{
	struct stream *s = cookie;
	bool well = settle(s, true) && send_chunk(s);
	int error = errno;

	if (close(s->fd) && well) {
		well = false;
		error = errno;
	}
	free(s);
	errno = error;
	return well ? 0 : -1;
}

static FILE *open_stream(int fd, int buffering, struct stream **ret_stream)
{
	const cookie_io_functions_t functions = {.write = clean_write, .close = clean_close};
	struct stream *s = bb_calloc(1, sizeof(*s));
	FILE *file = fopencookie(s, "w", functions);

	if (!file)
		bb_out_of_memory();
	s->fd = fd;
	setvbuf(file, NULL, buffering, buffering == _IONBF ? 0 : BUFSIZ);
	*ret_stream = s;
	return file;
}

FILE *bb_clean__open(int fd, int buffering)
{
	struct stream *s;

	return open_stream(fd, buffering, &s);
}

void bb_clean__std(void)
{
	std[0].file = open_stream(STDOUT_FILENO, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
				  &std[0].stream);
	std[1].file = open_stream(STDERR_FILENO, _IONBF, &std[1].stream);
	stdout = std[0].file;
	stderr = std[1].file;
}

void bb_clean__put_raw(FILE *out, const char *text)
{
	struct stream *s = NULL;

	for (size_t i = 0; i < BB_LEN(std); i++)
		if (std[i].file == out)
			s = std[i].stream;
	if (!s)
		fputs(text, out);
	if (!s || !*text || fflush(out))
		return;
	for (; *text; text++)
		if (!append_clean(s, text, 1))
			return;
	send_chunk(s);
}

/* errno may have changed before a buffered stream reports a failed write. */
int bb_clean__check(FILE *out, const char *name, struct bb_err *err)
{
	if (!fflush(out) && !ferror(out))
		return 0;
	int error = write_error ? write_error : EIO;
	return bb_fail(err, -error, "%s: %s", name, strerror(error));
}
