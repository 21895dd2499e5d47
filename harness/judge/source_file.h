/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_SOURCE_FILE_H
#define BB_JUDGE_SOURCE_FILE_H

/*
 * The text of a source file that an object's BTF or a stored run names, to be freed. The author of
 * those may name any file, and its text may be printed where the author can read it. So only
 * regular files are read whose name is that of source code (".c", ".h", ".rs", ...), in the git
 * work tree of the current folder or, where there is none, below that folder; not through symbolic
 * links, nor below hidden folders (.git, .ssh). A relative path is taken from the current folder.
 *
 * 0; -EXDEV: the file is none of these; other -errno: it cannot be read.
 */
int bb_source_file__read(const char *path, char **ret_text);

#endif
