/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "profile.h"
#include "profile/symtab.h"

/* A file that code is mapped from (dynamic shared object). It is opened when its first mapping is
 * seen, because later it may be deleted, or its process may have ended. */
struct bb_dso {
	char *path; /* path as the process sees it, or "[vdso]" */
	int fd;     /* negative if the file could not be opened */
};

struct bb_dsos {
	struct bb_dso *v;
	size_t n;
	struct bb_idmap by_file; /* (device, inode) -> index in `v` */
};

const char *bb_dso__short_name(const struct bb_dso *dso);

/* Addresses [start, end) with the code of a file from the offset `file_offset` on. */
struct bb_mapping {
	uint64_t start, end, file_offset;
	uint32_t dso; /* index in bb_dsos.v, or BB_NO_ID if not mapped from a file */
};

/* The code in the memory of a process, from one exec or fork to the next. If mappings overlap, the
 * latest one counts. */
struct bb_space {
	char comm[BB_PROFILE_COMM];
	struct bb_mapping *mappings;
	size_t n;
	uint32_t older; /* index of the process's previous space, or BB_NO_ID */
};

enum bb_task_event_kind {
	BB_TASK_MAP,
	BB_TASK_FORK, /* the process was forked from `parent` */
	BB_TASK_EXEC, /* the process executed another program, `comm`, in new memory */
	BB_TASK_COMM,
};

struct bb_task_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	enum bb_task_event_kind kind;
	uint32_t pid, parent;
	char comm[BB_PROFILE_COMM];
	struct bb_mapping mapping;
	size_t nth; /* index in the log, which orders events of the same time */
};

/* The address spaces of all processes during the sampling. Events are logged as they arrive, and
 * replayed at the end in the order of their times. */
struct bb_spaces {
	struct bb_dsos dsos;
	struct bb_task_event *log;
	size_t n_log;
	struct bb_space *v; /* made by bb_spaces__replay() */
	size_t n;
	struct bb_idmap newest; /* (pid, 0) -> index in `v` of the newest space of the process */
	/* (pid, 0) -> user id of the process when we last saw it; none if we never did */
	struct bb_idmap users;
	/* mappings that replaced another file's; samples of both then count for the later file */
	size_t n_replaced;
};

/* Logs a copy of the event, and sets `nth` of the copy. A zeroed bb_spaces is empty. */
void bb_spaces__log(struct bb_spaces *s, const struct bb_task_event *event);

/* Logs the process as /proc shows it at `time_ns`: an exec with its name, then its code mappings.
 * Logs nothing if the process has ended. */
void bb_spaces__log_proc(struct bb_spaces *s, pid_t pid, uint64_t time_ns);

/* `maps` is the text of a /proc/PID/maps. */
void bb_spaces__log_maps(struct bb_spaces *s, pid_t pid, uint64_t time_ns, const char *maps);

/* Sorts the log by time and builds the spaces. Call it after the last event. */
void bb_spaces__replay(struct bb_spaces *s);

/* Returns the index of the newest space of `pid` with the name `comm`, else of its newest space.
 * Returns BB_NO_ID if the process is unknown. */
uint32_t bb_spaces__of(const struct bb_spaces *s, uint32_t pid, const char *comm);

/* Looks the address up in the space with the index `space`, then in older spaces of its process.
 * Returns NULL if no mapping contains it. */
const struct bb_mapping *bb_spaces__find(const struct bb_spaces *s, uint32_t space,
					 uint64_t address);

void bb_spaces__done(struct bb_spaces *s);

/* Reads forks, execs, names and code mappings of all processes from the kernel's perf records. */
struct bb_task_events {
	struct bb_spaces *spaces;
	/* records dropped because a ring was full; `spaces` may lack their mappings */
	uint64_t lost;
	struct perf_buffer *rings;
	int map_fd; /* the perf event array that holds the rings */
};

/* `ret_events` must not move until bb_task_events__close(). Returns 0, or -errno with a message. */
int bb_task_events__open(struct bb_spaces *spaces, struct bb_task_events *ret_events,
			 struct bb_err *err);

/* Logs one record of the kernel, whose last 8 bytes are its time. Ignores unknown types. */
void bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h);

/* Accepts a zeroed struct. */
void bb_task_events__close(struct bb_task_events *e);
