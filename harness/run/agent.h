/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/loaded.h"
#include "bpf/prog_stats.h"
#include "run/command.h"

/* An agent: a command that loads and attaches BPF programs, and runs until it is ended. */
struct bb_agent_spec {
	struct bb_command_spec command;
	/* The agent is ready when this command line succeeds. NULL: when the programs that it
	 * loaded have been the same for half a second. */
	const char *ready;
	double ready_s; /* longest time until it is ready */
	bool cleans;    /* pins that it leaves behind are removed */
};

/* The process that has a program open, directly or by a link. */
struct bb_owner {
	char name[16]; /* as ps shows it; empty: no other process than bpfbench has it open */
};

/* Finds the first process in /proc that has program ids[i] open, for each i < n. Returns 0 or
 * -errno. */
int bb_owners__find(const uint32_t *ids, size_t n, struct bb_owner *ret_owners);

struct bb_agent_program {
	struct bb_loaded program;
	/* counters at the last bb_agent__read_counters(), and their rise since the call before */
	struct bb_prog_stats now, since;
	bool is_open; /* a process of the agent has it open */
	bool is_gone; /* it was unloaded while the agent ran */
};

struct bb_agent {
	const struct bb_agent_spec *spec; /* NULL: it does not run */
	struct bb_command command;
	struct timespec began;
	uint32_t last_id; /* programs with a higher id were loaded after its start */
	struct bb_agent_program *programs;
	size_t n;
};

/*
 * Starts the agent and waits until it is ready. Its programs are those that were loaded since its
 * start and that one of its processes has open, as a program or by a link. If it has none open,
 * they are those that nobody else has open. Returns 0, -ETIME, -ECHILD if the agent ended, -EINTR,
 * or another -errno, with a message. bb_agent__stop() is due in all cases.
 */
int bb_agent__start(const struct bb_agent_spec *spec, struct bb_agent *ret_agent,
		    struct bb_err *err);

/* Returns 0 if the agent runs, else -ECHILD with a message. Looks for programs that came, and for
 * programs that are gone. */
int bb_agent__check(struct bb_agent *a, struct bb_err *err);

/* Reads the counters of its programs, which change only while bpf_stats is on. Those of a program
 * that is gone stay. */
int bb_agent__read_counters(struct bb_agent *a, struct bb_err *err);

/* Returns the memory of the maps of all its programs, bytes; each map counts once. */
double bb_agent__map_bytes(const struct bb_agent *a);

/*
 * Ends the agent by SIGTERM, or by SIGKILL after 5 s, and waits until its programs are gone.
 * `*ret_killed` is true if SIGKILL was needed. If the spec says so, removes pins that were made
 * since its start, of programs that one of its processes had open; `*ret_cleaned` is the number of
 * programs that this unloaded. Returns -EBUSY with a message that names the programs that are left.
 * Does nothing if it does not run.
 */
int bb_agent__stop(struct bb_agent *a, bool *ret_killed, size_t *ret_cleaned, struct bb_err *err);
