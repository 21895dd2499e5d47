#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command in a new machine, which is a chroot: see --help.
#
# All mounts are in a mount namespace of their own and end with it. Outside of it, the folder of the new machine has only its own files, so
# that it can always be removed safely.
set -euo pipefail

here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd)
tree=$(cd -- "$here/.." && pwd)

usage() {
	cat <<-'EOF'
	Usage: ci/fresh.sh [--root] SUITE COMMAND...

	Runs COMMAND in a bare chroot of Debian SUITE (debian-12 or bookworm, debian-13 or trixie), in a clone of this tree's
	commit: uncommitted changes are not in it. The chroot has git, make and sudo and nothing else, /proc, /sys without
	tracefs, bpffs, securityfs and cgroups, and a small /dev. COMMAND runs below /home as a user who may use sudo. Kernel and
	network are this machine's, apt's proxies too. The chroot is removed at the end, and every process in it ends.

	  --root  run COMMAND as root below /root, which only root may enter, and without sudo, as on a new server

	    sudo ci/fresh.sh debian-13 sudo make test
	    sudo ci/fresh.sh --root debian-13 make test

	Needs root, and mmdebstrap or debootstrap to make the bare system, which is then kept for 30 days, as are the
	kernels that ci/vm-test.sh fetches.

	Environment: XDG_CACHE_HOME, where bare systems are kept (~/.cache); TMPDIR, where chroots are made (/var/tmp), on a file
	system with devices and set-user-ID programs, 5 GB free; BB_MIRROR, a mirror of Debian (deb.debian.org).
	Exit codes: that of COMMAND; 2 usage; 4 no chroot can be made here (stderr ends with the reason).
	EOF
}

say() { printf 'fresh: %s\n' "$*" >&2; }
cannot() { say "$@"; exit 4; }

suite_of() {
	case $1 in
	debian-12 | bookworm) echo bookworm ;;
	debian-13 | trixie) echo trixie ;;
	*) say "unknown suite '$1': debian-12 or debian-13; see --help"; exit 2 ;;
	esac
}

# Prints this machine's settings of apt for downloads: proxies, time limits, checks of dates.
host_apt_conf() { ! command -v apt-config >/dev/null || apt-config dump Acquire | grep -v '::IndexTargets::'; }

# make_bare SUITE FILE: makes a tar file of a system with git, make and sudo.
make_bare() {
	local suite=$1 file=$2

	part=$2.$$
	say "making a bare Debian $suite for $file"
	mkdir -p -- "${file%/*}"
	if command -v mmdebstrap >/dev/null; then
		mmdebstrap --quiet --variant=minbase --include=git,make,sudo --format=tar \
			"$suite" "$part" ${BB_MIRROR:+"$BB_MIRROR"} >&2 </dev/null || return 1
	elif command -v debootstrap >/dev/null; then
		debootstrap --variant=minbase --include=git,make,sudo "$suite" "$part.tree" \
			"${BB_MIRROR:-http://deb.debian.org/debian}" >&2 </dev/null || return 1
		tar -C "$part.tree" --one-file-system -cf "$part" . || return 1
	else
		say "there is neither mmdebstrap nor debootstrap here: sudo apt-get install mmdebstrap"
		return 1
	fi
	mv -- "$part" "$file"
}

# furnish ROOT: sets up the new machine: a user with sudo, or root without sudo; network, apt and a clone of the tree. Mounts come later.
furnish() {
	local root=$1
	local config=$root/etc/gitconfig

	host_apt_conf >"$root/etc/apt/apt.conf.d/00host"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fresh"	# nobody needs it after a crash
	cp -L -- /etc/resolv.conf /etc/hosts "$root/etc/"
	grep -qw -- "$HOSTNAME" "$root/etc/hosts" || echo "127.0.1.1 $HOSTNAME" >>"$root/etc/hosts"
	if [[ $user == root ]]; then
		chroot "$root" env SUDO_FORCE_REMOVE=yes dpkg --purge sudo >&2
		chmod 700 "$root$home"
	else
		chroot "$root" useradd --create-home --shell /bin/bash "$user"
		echo "$user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/user"
	fi
	# The tree may belong to the user who called sudo. git refuses to read another user's tree, unless it is called safe.
	printf '[safe]\n\tdirectory = *\n' >"$config"
	GIT_CONFIG_GLOBAL=$config git clone --quiet --no-hardlinks "$tree" "$root$home/bpfbench"
	rm -- "$config"
	chroot "$root" chown -Rh "$user:$user" "$home/bpfbench"
}

# mount_all ROOT KEPT: mounts /proc, /sys and /dev as on any machine, without file systems that this machine has mounted below /sys, and
# KEPT for the kernels of ci/vm-test.sh. Called in the new mount namespace.
mount_all() {
	local root=$1 name

	mount --bind /proc "$root/proc"
	mount --bind /sys "$root/sys"
	mount -t tmpfs -o mode=755 tmpfs "$root/dev"
	mkdir "$root"/dev/{pts,shm}
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
	ln -s pts/ptmx "$root/dev/ptmx"
	for name in null zero full random urandom tty kvm; do
		[[ -e /dev/$name ]] || continue
		: >"$root/dev/$name"
		mount --bind "/dev/$name" "$root/dev/$name"
	done
	ln -s /proc/self/fd "$root/dev/fd"
	mkdir -p "$root/var/cache/bpfbench" "$2"
	mount --bind "$2" "$root/var/cache/bpfbench"
	for name in 0:stdin 1:stdout 2:stderr; do ln -s "fd/${name%:*}" "$root/dev/${name#*:}"; done
}

# The second half, which runs in the new mount namespace: ci/fresh.sh [--root] --inside ROOT KEPT COMMAND...
inside() {
	local root=$1 kept=$2

	shift 2
	mount_all "$root" "$kept"
	# shellcheck disable=SC2016 # the chroot's shell
	exec chroot "$root" setpriv "--reuid=$user" "--regid=$user" --init-groups env -i "HOME=$home" "USER=$user" "LOGNAME=$user" \
		SHELL=/bin/bash TERM="${TERM:-dumb}" "PATH=$path" ${CI:+"CI=$CI"} bash -c 'cd ~/bpfbench && exec "$@"' bash "$@"
}

# processes_in ROOT: prints the ids of the processes whose root folder is ROOT.
processes_in() {
	local id

	id=$(stat -c %d:%i -- "$1")
	stat -Lc '%d:%i %n' /proc/[0-9]*/root 2>/dev/null | sed -n "s,^$id /proc/\([0-9]*\)/root$,\1,p"
}

# Called when this script ends, also by `set -e` if a command fails before the new machine is complete.
clean_up() {
	local -a left
	local i rc=$?

	[[ -z $part ]] || rm -rf -- "$part" "$part.tree"
	[[ -n $folder ]] || return 0
	for ((i = 0; i < 100; i++)); do
		mapfile -t left < <(processes_in "$folder")
		((${#left[@]})) || break
		kill -KILL "${left[@]}" 2>/dev/null || true
		sleep 0.1
	done
	rm -rf --one-file-system -- "$folder"
	[[ $started || $rc -gt 128 ]] || cannot "the chroot could not be made in ${folder%/*} (see above)"
}

main() {
	local suite bare cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/bpfbench rc=0

	suite=$(suite_of "$1")
	shift
	((EUID == 0)) || cannot "only root can make a chroot: sudo ci/fresh.sh ..."
	bare=$cache/$suite-$(uname -m).tar
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	if [[ -z $(find "$bare" -mtime -30 2>/dev/null) ]]; then
		make_bare "$suite" "$bare" || [[ -e $bare ]] || cannot "cannot make a bare Debian $suite (see above)"
	fi
	folder=$(mktemp -d "${TMPDIR:-/var/tmp}/bpfbench-fresh.XXXXXX")
	chmod 755 "$folder"
	tar -C "$folder" -xpf "$bare"
	furnish "$folder"
	started=1
	unshare --mount --propagation private bash "$here/fresh.sh" "${options[@]}" --inside "$folder" "$cache/kernels" "$@" <&0 &
	wait $! || rc=$?
	return $rc
}

folder='' part='' started=''
user=user home=/home/user path=/usr/local/bin:/usr/bin:/bin
declare -a options=()
if [[ ${1:-} == --root ]]; then
	user=root home=/root path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	options=(--root)
	shift
fi
case ${1:-} in
--help | -h) usage ;;
--inside) shift; inside "$@" ;;
'' | -*) usage >&2; exit 2 ;;
*) (($# > 1)) || { usage >&2; exit 2; }; main "$@" ;;
esac
