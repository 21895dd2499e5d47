/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/processes.h"
#include "bpf/loaded.h"
#include "bpf/prog_stats.h"
#include "drivers/command.h"

/* An agent: a command that loads and attaches BPF programs and runs until bpfbench ends it. */
struct bb_agent_spec {
	struct bb_command_spec command;
	/* The agent is ready when this command line succeeds. If NULL, it is ready when its
	 * programs have not changed for half a second and none of its threads is in a long system
	 * call. In such a call, the kernel may be verifying the next program. */
	const char *ready;
	double ready_s; /* longest wait until the agent is ready, s */
	bool cleans;    /* true to remove the pins that the agent leaves */
};

/* A process that has a BPF program open, directly or by a link. */
struct bb_owner {
	/* name as in /proc/PID/comm; empty if no process but bpfbench has the program open */
	char name[16];
};

/* Finds the first process in /proc that has program ids[i] open, for each i < n. */
int bb_owners__find(const uint32_t *ids, size_t n, struct bb_owner *ret_owners);

struct bb_agent_program {
	struct bb_loaded program;
	/* counters at the last bb_agent__read_counters(), and their rise since the call before */
	struct bb_prog_stats now, since;
	bool is_open; /* true if a process of the agent has the program open */
	bool is_gone;
};

struct bb_agent_ring {
	char name[BPF_OBJ_NAME_LEN];
	uint32_t bytes;
	/* largest share of the ring seen in use, 0 to 1 (a value near 1 hints at lost records) */
	double peak;
	void *pages; /* mapped pages with the positions of the ring's reader and writer */
};

struct bb_agent {
	const struct bb_agent_spec *spec; /* NULL if no agent runs */
	struct bb_command command;
	struct timespec began;
	uint32_t last_id; /* largest program id before the agent's start */
	struct bb_agent_program *programs;
	size_t n;
	struct bb_agent_ring *rings;
	size_t n_rings, n_perf_buffers;
};

/* Starts the agent and waits until it is ready. Its programs are those that were loaded since its
 * start and that one of its processes has open. If its processes have none open, its programs are
 * the new ones that no process has open. Returns -ETIME, -ECHILD if the agent ended, -EINTR, or
 * another -errno. Call bb_agent__stop() also after an error. */
int bb_agent__start(const struct bb_agent_spec *spec, struct bb_agent *ret_agent,
		    struct bb_err *err);

/* Finds new and unloaded programs. Returns -ECHILD with a message if the agent has ended. */
int bb_agent__check(struct bb_agent *a, struct bb_err *err);

/* Reads the counters, which change only while bpf_stats is on. Unloaded programs keep theirs. */
int bb_agent__read_counters(struct bb_agent *a, struct bb_err *err);

/* Maps the agent's ring buffers into memory until bb_agent__stop(). Counts its perf buffers. */
void bb_agent__open_rings(struct bb_agent *a);
/* Reads how full each ring buffer is, and raises its `peak` if needed. */
void bb_agent__look_at_rings(struct bb_agent *a);

/* Returns the map memory of the agent's programs, bytes. A map that programs share counts once. */
double bb_agent__map_bytes(const struct bb_agent *a);

/* Ends the agent by SIGTERM, or by SIGKILL after 5 s, and waits until its programs are unloaded. If
 * some stay and spec->cleans is true, removes pins that were made since its start and hold programs
 * that it had open. *ret_cleaned is the number of programs that this unloads. Returns -EBUSY with a
 * message if programs stay loaded. Does nothing if no agent runs. */
int bb_agent__stop(struct bb_agent *a, bool *ret_killed, size_t *ret_cleaned, struct bb_err *err);
