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
	/* No SA_RESTART: a blocking call is to come back. SA_RESETHAND: the second signal kills. */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction before;

		/* nohup: a hangup that we are to ignore stays ignored. (Shells ignore SIGINT for
		 * what runs in the background.) */
		if (signals[i] == SIGHUP && !sigaction(SIGHUP, NULL, &before) &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: writing says EFBIG */
}
