/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_SOCKETS_H
#define BB_FIRE_SOCKETS_H

#include "fire/trigger.h"

/* Sockets over the loopback device that several triggers use. 0 or -errno. */

/* TCP: fd[0] listens, fd[1] and fd[2] are the two ends of a connection. */
int bb_firing__open_tcp(struct bb_firing *f);

/* UDP: fd[0] receives; fd[1] may send to the address at the beginning of the page. */
int bb_firing__open_udp(struct bb_firing *f);

#endif
