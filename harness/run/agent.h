/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/loaded.h"
#include "bpf/prog_stats.h"
#include "drivers/command.h"
#include "run/processes.h"

/* An agent: a command that loads and attaches BPF programs, and runs until it is ended. */
struct bb_agent_spec {
	struct bb_command_spec command;
	/* The agent is ready when this command line succeeds. NULL: it is ready when its programs
	 * have been the same for half a second and no thread of it is in a long system call, in
	 * which the verifier may work on the next program. */
	const char *ready;
	double ready_s; /* longest time to wait until the agent is ready, s */
	bool cleans;    /* true: remove the pins that the agent leaves */
};

/* A process that has a file descriptor of a program or of its link. */
struct bb_owner {
	/* name of the process as ps shows it; empty: nobody but bpfbench has the program open */
	char name[16];
};

/* Finds the first process in /proc that has program ids[i] open, for i < n. Returns 0 or -errno. */
int bb_owners__find(const uint32_t *ids, size_t n, struct bb_owner *ret_owners);

struct bb_agent_program {
	struct bb_loaded program;
	/* now: counters at the last call of bb_agent__read_counters(). since: how much they rose
	 * between the last two calls */
	struct bb_prog_stats now, since;
	bool is_open; /* true: a process of the agent has the program open */
	bool is_gone; /* true: the program was unloaded while the agent ran */
};

struct bb_agent_ring {
	char name[BPF_OBJ_NAME_LEN];
	uint32_t bytes;
	/* largest fill level of the ring that was seen, 0 to 1. A value near 1 hints at lost
	 * records, which the kernel does not count */
	double peak;
	void *pages; /* mapped pages with the positions of the ring's reader and writer */
};

struct bb_agent {
	const struct bb_agent_spec *spec; /* NULL: no agent runs */
	struct bb_command command;
	struct timespec began;
	uint32_t last_id; /* programs with a higher id were loaded after the agent's start */
	struct bb_agent_program *programs;
	size_t n;
	struct bb_agent_ring *rings;
	size_t n_rings, n_perf_buffers;
};

/*
 * Starts the agent and waits until it is ready. The programs of the agent are those that were
 * loaded since its start and that one of its processes has open, directly or by a link. If there
 * are none, they are the programs that were loaded since its start and that no process has open.
 * Returns 0; or, with a message, -ETIME, -ECHILD if the agent ended, -EINTR or another -errno. Call
 * bb_agent__stop() in all cases.
 */
int bb_agent__start(const struct bb_agent_spec *spec, struct bb_agent *ret_agent,
		    struct bb_err *err);

/* Finds new programs of the agent, and marks its programs that were unloaded. Returns 0 if the
 * agent runs, -ECHILD with a message if it has ended, or another -errno. */
int bb_agent__check(struct bb_agent *a, struct bb_err *err);

/* Reads the counters of the agent's programs. The counters change only while bpf_stats is on. A
 * program that was unloaded keeps its last counters. */
int bb_agent__read_counters(struct bb_agent *a, struct bb_err *err);

/* Maps the agent's ring buffers into memory until it is stopped. Counts its perf buffers. */
void bb_agent__open_rings(struct bb_agent *a);
/* Reads how full each ring buffer is now, as a share of its size, and raises `peak` to it. */
void bb_agent__look_at_rings(struct bb_agent *a);

/* Returns the memory of the maps of all the agent's programs, bytes; shared maps count once. */
double bb_agent__map_bytes(const struct bb_agent *a);

/*
 * Ends the agent by SIGTERM, or by SIGKILL after 5 s, and waits until its programs are gone.
 * `*ret_killed` is true if SIGKILL was needed. If spec->cleans is true and programs stay loaded,
 * removes the pins that were made since the agent's start and that hold programs which one of its
 * processes had open. `*ret_cleaned` is the number of programs that were unloaded in this way.
 * Returns 0; or -EBUSY with a message that names the programs that are still loaded. Does nothing
 * if no agent runs.
 */
int bb_agent__stop(struct bb_agent *a, bool *ret_killed, size_t *ret_cleaned, struct bb_err *err);
