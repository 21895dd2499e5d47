/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/firer.h"

#include "base/deadline.h"
#include "base/io.h"
#include "fire/later.h"

#define NOBODY 65534
/* limit: seconds to load the library, which takes long on a slow machine */
#define START_S 20.0
#define LOOK_MS 100

/* --- in the child process --- */

struct call {
	char **argv;
	int program_fd;
};

/* Opens call_function before the child changes its user, who may have no access to the folder. */
static int open_program(void *arg)
{
	struct call *c = arg;

	c->program_fd = open(c->argv[0], O_PATH | O_CLOEXEC);
	return c->program_fd < 0 ? -errno : 0;
}

static int execute(void *arg, int)
{
	const struct call *c = arg;

	fexecve(c->program_fd, c->argv, environ);
	return -errno;
}

/* --- in our process --- */

/* The child's first message is empty, or says why the function cannot be called. */
static int wait_until_loaded(struct bb_child *c, const char *library, const char *function,
			     struct bb_err *err)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	uint64_t began_ns = bb_now_ns();
	char why[300];

	while (poll(&p, 1, LOOK_MS) <= 0) {
		int rc = bb_must_end_why();

		if (rc)
			return rc;
		if (bb_seconds_since(began_ns) > START_S)
			return bb_fail(err, -ENOTSUP, "%s was not loaded within %g s", library,
				       START_S);
	}
	ssize_t n = recv(c->fd, why, sizeof(why) - 1, 0);
	if (n > 0) {
		why[n] = '\0';
		return bb_fail(err, -ENOTSUP, "'%s' of %s cannot be called: %s", function, library,
			       why);
	}
	/* an empty message means success, but recv() also returns 0 if the child has ended */
	bb_call_child__say_end(c, why, sizeof(why));
	return !why[0] ? 0 : bb_fail(err, -ENOTSUP, "%s: loading it %s", library, why);
}

int bb_call_child__start(const struct bb_fire_user *user, const char *library,
			 const struct bb_fired_by *by, pid_t pid, struct bb_child *ret_child,
			 struct bb_err *err)
{
	struct call call = {0};
	const struct bb_child_rules rules = {
		.pid = pid,
		.link = BB_LINK_SOCKET,
		.signals = BB_SIGNALS_DEFAULT,
		.own_session = true,
		.no_core = true,
		.before = open_program,
		.is_program = true,
		.env = user->env,
		.std = {BB_STD_LINK, BB_STD_NULL, BB_STD_NULL},
		.closes_others = true,
		.keep = &call.program_fd,
		.n_keep = 1,
		.uid = user->uid ? user->uid : NOBODY,
		.gid = user->uid ? user->gid : NOBODY,
		.no_new_privs = true,
	};
	struct bb_child c;

	if (!user->helper_dir)
		return bb_fail(err, -ENOTSUP, "the program call_function is not there: make all");
	call.argv = bb_calloc(by->n_arguments + 4, sizeof(*call.argv));
	call.argv[0] = bb_asprintf("%s/call_function", user->helper_dir);
	call.argv[1] = bb_strdup(library);
	call.argv[2] = bb_strdup(by->call);
	for (size_t i = 0; i < by->n_arguments; i++)
		call.argv[3 + i] = bb_strdup(by->arguments[i]);
	if (pid)
		bb_close_later__wait();
	int rc = bb_child__start(&rules, execute, &call, &c);
	bb_names_free(call.argv, 3 + by->n_arguments);
	if (!rc)
		rc = bb_child__executed(&c);
	if (rc)
		bb_fail(err, rc, "starting the process that calls%s: %m",
			pid ? " by the pid that the program was told" : "");
	else
		rc = wait_until_loaded(&c, library, by->call, err);
	if (rc)
		bb_child__stop(&c);
	else
		*ret_child = c;
	return rc;
}

void bb_call_child__say_end(struct bb_child *c, char *ret_words, size_t size)
{
	int status;

	ret_words[0] = '\0';
	if (c->pid <= 0)
		return;
	/* waitpid() reports the end a moment after the socket closes, so ask it several times */
	for (int i = 0; i < 20 && recv(c->fd, &status, 1, MSG_PEEK | MSG_DONTWAIT) == 0; i++) {
		if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
			snprintf(ret_words, size, "%s", bb_how_ended(status).text);
			c->pid = 0;
			bb_close(&c->fd);
			return;
		}
		usleep(5000);
	}
}
