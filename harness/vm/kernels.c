/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm/kernels.h"

#include <pwd.h>

#include "base/asset.h"
#include "base/io.h"
#include "base/process.h"

BB_ASSET(bb_fetch_script, "harness/vm/fetch-kernel.sh");

/* Returns the user's folder ~/.cache/bpfbench/vm. The caller must free() it. */
static char *cache_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const struct passwd *user;

	/* under sudo, $HOME and $XDG_CACHE_HOME may be root's */
	if (getenv("SUDO_UID") || !home || home[0] != '/') {
		user = getpwuid(getuid());
		home = user ? user->pw_dir : "/tmp";
		cache = NULL;
	}
	if (cache && cache[0] == '/')
		return bb_asprintf("%s/bpfbench/vm", cache);
	return bb_asprintf("%s/.cache/bpfbench/vm", home);
}

/* Returns the folder for a kernel of Debian, or NULL if the name is invalid. The caller must free()
 * it. */
static char *folder_of(const char *name, struct bb_err *err)
{
	char *cache, *path;

	if (!isdigit((unsigned char)name[0]) || name[strspn(name, "0123456789.")]) {
		bb_fail(err, -EINVAL,
			"'%s' is no kernel: a release of Debian's kernels, such as 5.10, 6.1 or "
			"6.12, or the path of a bzImage (./bzImage)",
			name);
		return NULL;
	}
	cache = cache_folder();
	path = bb_asprintf("%s/%s", cache, name);
	free(cache);
	return path;
}

void bb_kernel__done(struct bb_kernel *k)
{
	free(k->name);
	free(k->image);
	free(k->modules);
	free(k->saved);
	*k = (struct bb_kernel){0};
}

/* Debian's list of security modules for Linux 6.12. Its list for 5.10 lacks "bpf", so that LSM
 * programs would never run. */
#define DEBIAN_ARGS                                                                                \
	"lsm=landlock,lockdown,yama,loadpin,safesetid,integrity,apparmor,selinux,smack,tomoyo,"    \
	"bpf,ipe"

static int name_fetched(const char *name, struct bb_kernel *k, struct bb_err *err)
{
	char *folder = folder_of(name, err);

	if (!folder)
		return err->code;
	k->image = bb_asprintf("%s/vmlinuz", folder);
	k->args = DEBIAN_ARGS;
	k->modules = bb_asprintf("%s/lib/modules", folder);
	k->saved = bb_asprintf("%s/guest", folder);
	free(folder);
	return 0;
}

/* Each image of the user's own has its own saved guest, named by a hash of the image's path
 * (FNV-1a). */
static int name_own(const char *path, struct bb_kernel *k, struct bb_err *err)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	k->image = realpath(path, NULL);
	if (!k->image)
		return bb_fail(err, -errno, "%s: %m", path);
	for (const char *at = k->image; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	char *cache = cache_folder();
	k->saved = bb_asprintf("%s/.own/%016" PRIx64, cache, hash);
	free(cache);
	return 0;
}

int bb_kernel__find(const char *name, struct bb_kernel *ret_kernel, struct bb_err *err)
{
	struct bb_kernel k = {.name = bb_strdup(name), .args = ""};
	int rc = strchr(name, '/') ? name_own(name, &k, err) : name_fetched(name, &k, err);

	if (!rc && access(k.image, R_OK) && k.modules && errno == ENOENT)
		rc = bb_fail(err, -ENOENT, "kernel %s is not here yet: bpfbench vm fetch %s", name,
			     name);
	else if (!rc && access(k.image, R_OK))
		rc = bb_fail(err, -errno, "%s: %m", k.image);
	if (rc)
		bb_kernel__done(&k);
	else
		*ret_kernel = k;
	return rc;
}

int bb_kernels__list(char ***ret_names, size_t *ret_n, struct bb_err *err)
{
	char *cache = cache_folder();
	int fd = bb_open(cache, O_RDONLY | O_DIRECTORY), rc;

	*ret_names = NULL;
	*ret_n = 0;
	rc = fd == -ENOENT ? 0 : bb_list_and_close(fd, "", ret_names, ret_n);
	if (rc)
		bb_fail(err, rc, "%s: %m", cache);
	free(cache);
	return rc;
}

/* Runs a command as the user. If it fails, the message is `what` and the last line of its
 * output. */
static int run(const char *const *argv, const char *what, struct bb_err *err)
{
	static const char *const env[] = {"http_proxy", "https_proxy", "no_proxy", "APT_CONFIG",
					  NULL};
	const struct bb_process p = {.argv = argv,
				     .uid = getuid(),
				     .gid = getgid(),
				     .env = env,
				     .together = true};
	struct bb_process_end end;
	char *last;
	int rc = bb_process__run(&p, &end, err);

	if (rc)
		return rc;
	while ((last = strrchr(end.out, '\n')) && !last[1])
		*last = '\0';
	last = last ? last + 1 : end.out;
	if (end.status)
		rc = bb_fail(err, end.status == 4 ? -ENOTSUP : -EIO, "%s: %s", what,
			     *last ? last : "it failed");
	bb_process_end__done(&end);
	return rc;
}

int bb_kernel__fetch(const char *name, const char *deb, struct bb_err *err)
{
	char *folder = folder_of(name, err), *slash;
	const char *const argv[] = {"bash", "-c", bb_fetch_script, "fetch-kernel", name, folder,
				    deb,    NULL};
	int fd, rc;

	if (!folder)
		return err->code;
	slash = strrchr(folder, '/');
	*slash = '\0';
	fd = bb_own__make_dirs(folder);
	rc = fd < 0 ? bb_fail(err, fd, "%s: %s", folder, bb_own__strerror(-fd)) : 0;
	bb_close(&fd);
	*slash = '/';
	if (!rc)
		rc = run(argv, name, err);
	free(folder);
	return rc;
}

int bb_kernel__remove(const char *name, struct bb_err *err)
{
	struct bb_kernel own = {0};
	char *path = strchr(name, '/') ? name_own(name, &own, err) ? NULL : bb_strdup(own.saved)
				       : folder_of(name, err);
	const char *const argv[] = {"rm", "-rf", "--", path, NULL};
	int rc;

	bb_kernel__done(&own);
	if (!path)
		return err->code;
	if (access(path, F_OK))
		rc = bb_fail(err, -errno, "%s: %m", path);
	else
		rc = run(argv, name, err);
	free(path);
	return rc;
}
