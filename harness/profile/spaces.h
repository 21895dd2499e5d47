/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/perf_event.h>

#include "profile.h"
#include "profile/symtab.h"

/* The files that code is mapped from. Each is opened when it is first seen: later it may be
 * deleted, or its process may have ended. */
struct bb_dso {
	char *path; /* path in the process's view; "[vdso]" is the kernel's page of code */
	int fd;     /* < 0: could not be opened */
};

struct bb_dsos {
	struct bb_dso *v;
	size_t n;
	struct bb_idmap by_file; /* key: (device, inode) */
};

/* Returns the last part of the path. */
const char *bb_dso__short_name(const struct bb_dso *dso);

/* Code in a process: the addresses [start, end) show the file `dso` from `file_offset` on. */
struct bb_mapping {
	uint64_t start, end, file_offset;
	uint32_t dso; /* index of the file; BB_NO_ID: not a file */
};

/* The memory of a process from one exec or fork to the next. Of overlapping mappings the later
 * one counts. */
struct bb_space {
	char comm[BB_PROFILE_COMM];
	struct bb_mapping *mappings;
	size_t n;
	uint32_t older; /* index of the space that the process had before; BB_NO_ID: none */
};

/* Kinds of change to a process. */
enum bb_task_event_kind {
	BB_TASK_MAP,  /* the process got `mapping` */
	BB_TASK_FORK, /* the process is a new copy of `parent` */
	BB_TASK_EXEC, /* the process executed another program, `comm`, in new memory */
	BB_TASK_COMM, /* the process changed its name to `comm` */
};

struct bb_task_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	enum bb_task_event_kind kind;
	uint32_t pid, parent;
	char comm[BB_PROFILE_COMM];
	struct bb_mapping mapping;
	size_t nth; /* index in the log; orders events of the same time */
};

/* All address spaces during the sampling. Events are logged as they come, and replayed in order
 * of time. */
struct bb_spaces {
	struct bb_dsos dsos;
	struct bb_task_event *log;
	size_t n_log;
	struct bb_space *v;
	size_t n;
	struct bb_idmap newest; /* (pid, 0) -> index of its newest space */
	struct bb_idmap users;  /* (pid, 0) -> user id of the process when it was last seen */
	/* number of mappings that replaced a mapping of another file; samples of both files count
	 * towards the later file */
	size_t n_replaced;
};

/* Logs an event. A zeroed bb_spaces is empty. */
void bb_spaces__log(struct bb_spaces *s, const struct bb_task_event *event);

/* Returns the user id of the process; BB_NO_ID if the process ended before its user was seen. */
uint32_t bb_spaces__user(const struct bb_spaces *s, uint32_t pid);

/* Logs what /proc/PID shows at `time_ns`: an exec with the process's name, then its code
 * mappings. Logs nothing if the process has ended. */
void bb_spaces__log_proc(struct bb_spaces *s, pid_t pid, uint64_t time_ns);

/* Logs the code mappings in the text of a /proc/PID/maps. */
void bb_spaces__log_maps(struct bb_spaces *s, pid_t pid, uint64_t time_ns, const char *maps);

/* Sorts the log by time and builds the spaces. Call it after the last event. */
void bb_spaces__replay(struct bb_spaces *s);

/* Returns the index of a sample's space: the newest space of `pid` with the name `comm`, else
 * the newest of `pid`; BB_NO_ID: the process is unknown. */
uint32_t bb_spaces__of(const struct bb_spaces *s, uint32_t pid, const char *comm);

/* Returns the mapping that contains the address, in this space or in an older one of the
 * process; NULL: there is none. */
const struct bb_mapping *bb_spaces__find(const struct bb_spaces *s, uint32_t space,
					 uint64_t address);

void bb_spaces__done(struct bb_spaces *s);

/* Reads forks, execs, new names and code mappings of all processes from a kernel ring buffer per
 * CPU, and logs them in `spaces`. */
struct bb_task_events {
	struct bb_spaces *spaces;
	uint64_t lost; /* records dropped by a full ring; a space may lack their mappings */
	struct perf_buffer *rings;
	int map_fd; /* the perf event array that holds the rings */
};

/* Starts to follow processes. `ret_events` must not move until bb_task_events__close(). Returns
 * 0, or -errno with a message. */
int bb_task_events__open(struct bb_spaces *spaces, struct bb_task_events *ret_events,
			 struct bb_err *err);

/* Logs one record, whose last 8 bytes are its time. Ignores unknown kinds of records. */
void bb_task_events__log(struct bb_task_events *e, const struct perf_event_header *h);

/* Takes a zeroed struct, too. */
void bb_task_events__close(struct bb_task_events *e);
