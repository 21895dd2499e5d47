/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/fingerprint.h"

#include <glob.h>
#include <sys/utsname.h>

#include <bpf/libbpf.h>

#include "base/text.h"
#include "env/sysfile.h"

#ifndef BB_CLANG_VERSION
#define BB_CLANG_VERSION BB_FINGERPRINT_UNKNOWN
#endif
#ifndef BB_VERSION
#define BB_VERSION BB_FINGERPRINT_UNKNOWN
#endif

#ifdef __clang__
#define COMPILER __VERSION__ /* for example "Debian Clang 14.0.6" */
#else
#define COMPILER "gcc " __VERSION__ /* the __VERSION__ of gcc is only a number */
#endif

#define CPU_DIR "/sys/devices/system/cpu"
#define FIELD_IN(name, identity, doc, path)                                                        \
	{                                                                                          \
#name, doc, offsetof(struct bb_fingerprint, name),                                 \
			sizeof(((struct bb_fingerprint *)0)->name), identity, path                 \
	}
#define FIELD(name, identity, doc) FIELD_IN(name, identity, doc, NULL)

/* The second argument is the member `identity`. It is false for libbpf, because the kernel gives a
 * program another tag if another libbpf changes it. It is false for the number of CPUs and for
 * names of a single machine, so that machines of one kind are comparable. */
const struct bb_fingerprint_field bb_fingerprint_fields[] = {
	FIELD_IN(kernel_release, true, "kernel release (uname -r)", "/proc/sys/kernel/osrelease"),
	FIELD_IN(kernel_version, true, "kernel build (uname -v)", "/proc/sys/kernel/version"),
	FIELD(arch, true, "machine architecture (uname -m)"),
	FIELD_IN(hostname, false, "host name", "/proc/sys/kernel/hostname"),
	FIELD(machine, false, "vendor and product of the machine or VM (DMI)"),
	FIELD(cpu_model, true, "CPU model"),
	FIELD(microcode, true, "CPU microcode revision"),
	FIELD(cpus_online, false, "number of online CPUs"),
	FIELD(smt, true, "simultaneous multithreading: active or inactive"),
	FIELD(governor, true, "CPU frequency governor of all CPUs, or none"),
	FIELD(hypervisor, true, "whether the CPU says that it is virtual: yes or no"),
	FIELD(container, false, "container runtime, or none"),
	FIELD_IN(clocksource, true, "kernel clock source",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
	FIELD(mitigations, true,
	      "CPU vulnerabilities that concern this CPU, with their mitigations"),
	FIELD_IN(jit_enable, true, "net.core.bpf_jit_enable", "/proc/sys/net/core/bpf_jit_enable"),
	FIELD_IN(jit_harden, true, "net.core.bpf_jit_harden", "/proc/sys/net/core/bpf_jit_harden"),
	FIELD_IN(unprivileged_bpf_disabled, false, "kernel.unprivileged_bpf_disabled",
		 "/proc/sys/kernel/unprivileged_bpf_disabled"),
	FIELD(lockdown, false, "kernel lockdown: none, integrity or confidentiality"),
	FIELD(clang, true, "clang that built the BPF objects"),
	FIELD(harness_compiler, false, "compiler that built bpfbench"),
	FIELD(libbpf, false, "libbpf that loaded the programs"),
	FIELD(bpfbench, false, "bpfbench version"),
	FIELD(git_commit, false, "commit of the tree that bpfbench was run in, or none"),
};
const size_t bb_n_fingerprint_fields = BB_LEN(bb_fingerprint_fields);

#define PUT(member, value) put_text(member, sizeof(member), value)

static void put_text(char *field, size_t size, const char *value)
{
	size_t n = strnlen(value, size - 1);

	if (!n) {
		put_text(field, size, BB_FINGERPRINT_UNKNOWN);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)value[i];

		field[i] = isspace(c) ? ' ' : c > ' ' && c < 0x7f ? (char)c : '?';
	}
	memset(field + n, 0, size - n);
}

void bb_fingerprint_init(struct bb_fingerprint *fp)
{
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		put_text((char *)fp + bb_fingerprint_fields[i].offset,
			 bb_fingerprint_fields[i].size, "");
}

const char *bb_fingerprint_get(const struct bb_fingerprint *fp, size_t i)
{
	return (const char *)fp + bb_fingerprint_fields[i].offset;
}

int bb_fingerprint_set(struct bb_fingerprint *fp, const char *key, const char *value)
{
	const struct bb_fingerprint_field *f =
		BB_FIND(bb_fingerprint_fields, bb_n_fingerprint_fields, !strcmp(it->key, key));

	if (!f)
		return -ENOENT;
	put_text((char *)fp + f->offset, f->size, value);
	return 0;
}

size_t bb_fingerprint_differences(const struct bb_fingerprint *a, const struct bb_fingerprint *b,
				  const char *ret_keys[], size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		const char *va = bb_fingerprint_get(a, i), *vb = bb_fingerprint_get(b, i);

		if (!bb_fingerprint_fields[i].identity || !strcmp(va, vb))
			continue;
		if (!strcmp(va, BB_FINGERPRINT_UNKNOWN) || !strcmp(vb, BB_FINGERPRINT_UNKNOWN))
			continue;
		if (n < max)
			ret_keys[n] = bb_fingerprint_fields[i].key;
		n++;
	}
	return n;
}

static void read_machine(const char *root, struct bb_fingerprint *fp)
{
	static const char *const paths[] = {"/sys/class/dmi/id/sys_vendor",
					    "/sys/class/dmi/id/product_name",
					    "/sys/firmware/devicetree/base/model"};
	char text[BB_FINGERPRINT_TEXT] = "", part[BB_FINGERPRINT_TEXT];

	for (size_t i = 0; i < BB_LEN(paths); i++) {
		if (!bb_sysfile__read(root, paths[i], part, sizeof(part)) && part[0])
			bb_list_words(text, sizeof(text), " ", "%s", part);
	}
	PUT(fp->machine, text);
}

static void trim(char *text)
{
	size_t n = strlen(text);

	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
}

/* Reads the entry of the first CPU only, because the kernel may need 20 ms per entry to measure the
 * frequency of the CPU. */
static void read_cpuinfo(const char *root, struct bb_fingerprint *fp)
{
	char arm[BB_FINGERPRINT_TEXT] = "", *key = NULL;
	size_t size = 0;
	FILE *f;

	if (bb_sysfile__open(root, "/proc/cpuinfo", &f, NULL))
		return;
	while (getline(&key, &size, f) > 0 && key[0] != '\n') {
		char *value = strchr(key, ':');

		if (!value)
			continue;
		*value++ = '\0';
		value += strspn(value, " \t");
		trim(key);
		trim(value);
		if (!strcmp(key, "model name") || !strcmp(key, "cpu model") ||
		    !strcmp(key, "cpu")) {
			PUT(fp->cpu_model, value);
		} else if (!strcmp(key, "microcode")) {
			PUT(fp->microcode, value);
		} else if (!strcmp(key, "flags")) {
			PUT(fp->hypervisor, bb_has_word(value, ' ', "hypervisor") ? "yes" : "no");
		} else if (!strncmp(key, "CPU ", 4) && strcmp(key, "CPU architecture")) {
			bb_list_words(arm, sizeof(arm), " ", "%s", key + 4);
			bb_list_words(arm, sizeof(arm), " ", "%s", value);
		}
	}
	/* ARM kernels give numbers in place of a model name, here "implementer 0x41 part 0xd0c". */
	if (arm[0] && !strcmp(fp->cpu_model, BB_FINGERPRINT_UNKNOWN))
		PUT(fp->cpu_model, arm);
	free(key);
	fclose(f);
}

/* Writes the values of all files that match the pattern `files` to list[size]. If `with_names`,
 * each value is written as NAME=VALUE. Otherwise equal values are written once. Values that equal
 * `none` are left out. Returns false if no file matches. */
static bool join_files(const char *root, const char *files, bool with_names, const char *none,
		       char *list, size_t size)
{
	char pattern[PATH_MAX], value[512], entry[600];
	glob_t found;

	list[0] = '\0';
	/* glob() sorts as in the C locale, because main() does not set LC_COLLATE */
	if (bb_sysfile__path(root, files, pattern, sizeof(pattern)) ||
	    glob(pattern, 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (bb_sysfile__read("", found.gl_pathv[i], value, sizeof(value)) ||
		    !strcmp(value, none) || (!with_names && bb_has_word(list, ',', value)))
			continue;
		snprintf(entry, sizeof(entry), "%s%s%s",
			 with_names ? strrchr(found.gl_pathv[i], '/') + 1 : "",
			 with_names ? "=" : "", value);
		bb_list_words(list, size, with_names ? "; " : ",", "%s", entry);
	}
	globfree(&found);
	return true;
}

static void read_container(const char *root, struct bb_fingerprint *fp)
{
	static const char *const files[][2] = {{"/.dockerenv", "docker"},
					       {"/run/.containerenv", "podman"}};
	char path[PATH_MAX], name[BB_FINGERPRINT_TEXT];

	PUT(fp->container, "none");
	for (size_t i = 0; i < BB_LEN(files); i++) {
		if (!bb_sysfile__path(root, files[i][0], path, sizeof(path)) && !access(path, F_OK))
			PUT(fp->container, files[i][1]);
	}
	/* systemd-nspawn, lxc and other container managers write their name to this file */
	if (!bb_sysfile__read(root, "/run/systemd/container", name, sizeof(name)))
		PUT(fp->container, name);
}

/* The file `lockdown` is missing in securityfs if the kernel has no lockdown. If securityfs is not
 * mounted, only lockdown= on the kernel's command line can be read. Without lockdown= the field
 * stays unknown, because Secure Boot can lock the kernel down, too. */
static void read_lockdown(const char *root, struct bb_fingerprint *fp)
{
	static const char key[] = "lockdown=";
	char text[4096];

	if (!bb_sysfile__read(root, "/sys/kernel/security/lockdown", text, sizeof(text))) {
		/* the text is like "none [integrity] confidentiality" */
		char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

		if (close) {
			*close = '\0';
			PUT(fp->lockdown, open + 1);
		}
		return;
	}
	if (!bb_sysfile__read(root, "/sys/kernel/security/lsm", text, sizeof(text))) {
		PUT(fp->lockdown, "none");
		return;
	}
	if (bb_sysfile__read(root, "/proc/cmdline", text, sizeof(text)))
		return;
	for (char *save = NULL, *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		if (!strncmp(word, key, sizeof(key) - 1))
			PUT(fp->lockdown, word + sizeof(key) - 1);
	}
}

int bb_git_is_commit(const char *text)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF");

	return !text[len] && (len == 40 || len == 64);
}

static int join_path(const char *base, const char *name, char ret_path[PATH_MAX])
{
	bool is_absolute = name[0] == '/';
	int n = snprintf(ret_path, PATH_MAX, "%s%s%s", is_absolute ? "" : base,
			 is_absolute ? "" : "/", name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Looks for .git in `dir` and in the folders above it. In linked work trees and submodules, .git is
 * a file that names the git folder. */
static int find_git_dir(const char *dir, char ret_dir[PATH_MAX])
{
	static const char key[] = "gitdir: ";
	char tree[PATH_MAX], text[PATH_MAX];
	struct stat st;
	int err;

	if (!realpath(dir, tree))
		return -errno;
	for (;;) {
		err = join_path(tree, ".git", ret_dir);
		if (!err && !stat(ret_dir, &st))
			break;
		err = err ? err : -errno;
		char *slash = strrchr(tree, '/');
		if ((err != -ENOENT && err != -ENOTDIR) || !slash)
			return err;
		*slash = '\0';
	}
	if (S_ISDIR(st.st_mode))
		return 0;
	err = bb_sysfile__read("", ret_dir, text, sizeof(text));
	if (err)
		return err;
	if (strncmp(text, key, sizeof(key) - 1))
		return -EINVAL;
	return join_path(tree, text + sizeof(key) - 1, ret_dir);
}

/* The lines of the file packed-refs are "<commit> <ref>". Skips lines that begin with # or ^. */
static int commit_in_packed_refs(const char *dir, const char *ref,
				 char ret_commit[BB_GIT_COMMIT_SIZE])
{
	char *line = NULL;
	size_t size = 0;
	FILE *f;
	int err = bb_sysfile__open(dir, "/packed-refs", &f, NULL);

	if (err)
		return err;
	err = -ENOENT;
	while (err && getline(&line, &size, f) > 0) {
		char *name = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!name)
			continue;
		*name++ = '\0';
		if (strcmp(name, ref) || !bb_git_is_commit(line))
			continue;
		memcpy(ret_commit, line, strlen(line) + 1);
		err = 0;
	}
	free(line);
	fclose(f);
	return err;
}

int bb_git_commit__read(const char *dir, char ret_commit[BB_GIT_COMMIT_SIZE])
{
	static const char key[] = "ref: ";
	char git_dir[PATH_MAX], common[PATH_MAX], path[PATH_MAX], text[PATH_MAX], head[PATH_MAX];
	const char *ref = head + sizeof(key) - 1, *commit = head;
	int err = find_git_dir(dir, git_dir);

	if (!err)
		err = bb_sysfile__read(git_dir, "/HEAD", head, sizeof(head));
	if (!err && !strncmp(head, key, sizeof(key) - 1)) {
		if (strncmp(ref, "refs/", 5) ||
		    strstr(ref, "..")) /* a ref must not lead out of the repository */
			return -EINVAL;
		/* A linked work tree has no branches: `commondir` names the git folder that has
		 * them. */
		if (bb_sysfile__read(git_dir, "/commondir", text, sizeof(text)))
			memcpy(common, git_dir, sizeof(common));
		else
			err = join_path(git_dir, text, common);
		err = err ? err : join_path(common, ref, path);
		err = err ? err : bb_sysfile__read("", path, text, sizeof(text));
		if (err == -ENOENT)
			return commit_in_packed_refs(common, ref, ret_commit);
		commit = text;
	}
	if (err)
		return err;
	if (!bb_git_is_commit(commit))
		return -EINVAL;
	memcpy(ret_commit, commit, strlen(commit) + 1);
	return 0;
}

/* Prefers the commit that CI names, because CI may check out a merge commit or a tree without
 * .git. */
static void read_commit(const char *tree_dir, struct bb_fingerprint *fp)
{
	static const char *const variables[] = {"GITHUB_SHA", "CI_COMMIT_SHA"};
	char commit[BB_GIT_COMMIT_SIZE];

	for (size_t i = 0; i < BB_LEN(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && bb_git_is_commit(value)) {
			PUT(fp->git_commit, value);
			return;
		}
	}
	int err = bb_git_commit__read(tree_dir, commit);
	if (!err)
		PUT(fp->git_commit, commit);
	else if (err == -ENOENT)
		PUT(fp->git_commit, "none");
}

int bb_fingerprint__read(const char *root, const char *tree_dir, struct bb_fingerprint *ret_fp,
			 struct bb_err *err)
{
	char path[PATH_MAX], text[BB_FINGERPRINT_TEXT], list[4096];
	struct utsname u;
	uint32_t n;
	int ret = bb_sysfile__path(root, "/proc/", path, sizeof(path));

	if (ret)
		return bb_fail(err, ret, "%s: this path is too long to put /proc behind it", root);
	if (access(path, X_OK))
		return bb_fail(err, -errno, "%s: %m: mount it (sudo mount -t proc proc /proc)",
			       path);
	bb_fingerprint_init(ret_fp);
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		const struct bb_fingerprint_field *f = &bb_fingerprint_fields[i];

		if (f->path && !bb_sysfile__read(root, f->path, text, sizeof(text)))
			put_text((char *)ret_fp + f->offset, f->size, text);
	}
	if (!uname(&u))
		PUT(ret_fp->arch, u.machine);
	read_machine(root, ret_fp);
	read_cpuinfo(root, ret_fp);
	if (!bb_sysfile__read(root, CPU_DIR "/online", list, sizeof(list)) &&
	    !bb_cpulist_count(list, &n) && n) {
		snprintf(text, sizeof(text), "%u", n);
		PUT(ret_fp->cpus_online, text);
	}
	if (!bb_sysfile__read(root, CPU_DIR "/smt/active", text, sizeof(text)))
		PUT(ret_fp->smt, !strcmp(text, "1")   ? "active"
				 : !strcmp(text, "0") ? "inactive"
						      : "");
	/* the value is "performance,powersave" if the CPUs differ */
	PUT(ret_fp->governor, join_files(root, CPU_DIR "/cpu[0-9]*/cpufreq/scaling_governor", false,
					 "", list, sizeof(list))
				      ? list
				      : "none");
	read_container(root, ret_fp);
	if (join_files(root, CPU_DIR "/vulnerabilities/*", true, "Not affected", list,
		       sizeof(list)))
		PUT(ret_fp->mitigations, list[0] ? list : "none");
	read_lockdown(root, ret_fp);
	read_commit(tree_dir, ret_fp);
	PUT(ret_fp->clang, BB_CLANG_VERSION);
	PUT(ret_fp->harness_compiler, COMPILER);
	PUT(ret_fp->libbpf, libbpf_version_string());
	PUT(ret_fp->bpfbench, BB_VERSION);
	return 0;
}

void bb_testbed_name(const struct bb_fingerprint *fp, char ret_name[BB_TESTBED_SIZE])
{
	uint32_t hash = 2166136261u; /* start value of the hash FNV-1a (Fowler, Noll & Vo) */
	size_t n = 0;

	for (const char *c = fp->cpu_model; *c && n < BB_TESTBED_SIZE - sizeof("-01234567"); c++) {
		char lower = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);

		if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9'))
			ret_name[n++] = lower;
		else if (n && ret_name[n - 1] != '-')
			ret_name[n++] = '-';
	}
	n -= n && ret_name[n - 1] == '-';
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		const char *value = bb_fingerprint_get(fp, i);

		/* The hash includes the NUL of each value, which separates the values. */
		for (size_t k = 0; bb_fingerprint_fields[i].identity && k <= strlen(value); k++)
			hash = (hash ^ (unsigned char)value[k]) * 16777619u;
	}
	snprintf(ret_name + n, BB_TESTBED_SIZE - n, "%s%08x", n ? "-" : "", (unsigned int)hash);
}
