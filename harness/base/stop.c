/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stop.h"

volatile sig_atomic_t bb_stop_signal;
void (*volatile bb_stop_now)(void);

static void on_signal(int sig)
{
	int error = errno;

	bb_stop_signal = sig;
	if (bb_stop_now)
		bb_stop_now();
	errno = error;
}

void bb_stop__install(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	/* No SA_RESTART, so that blocking calls return. SA_RESETHAND: a second signal of the
	 * same kind kills the process. */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction before;

		/* A SIGHUP that is ignored stays ignored, as under nohup. An ignored SIGINT does
		 * not, because shells ignore it for background commands. */
		if (signals[i] == SIGHUP && !sigaction(SIGHUP, NULL, &before) &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of ulimit -f then fails with EFBIG */
}
