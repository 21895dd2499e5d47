# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For scripts whose tracers look for tracepoints in tracefs. Source it at the top, with the script's arguments: where tracefs is not
# mounted, root's script starts once more, in a mount namespace of its own that has it.
if [[ $EUID == 0 && ! -e /sys/kernel/tracing/events && ${BB_UNSHARED:-} != 1 ]]; then
	# in a chroot, / is no mount whose propagation could be changed; /sys is one
	exec env BB_UNSHARED=1 unshare -m --propagation unchanged sh -c \
		'mount --make-rprivate /sys && mount -t tracefs tracefs /sys/kernel/tracing; exec "$0" "$@"' "$0" "$@"
fi
