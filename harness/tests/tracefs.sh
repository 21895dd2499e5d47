# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For scripts whose tracers look for tracepoints in tracefs. Source it at the top, with the script's arguments. If tracefs is not mounted
# and we are root, it starts the script again in a mount namespace of its own, in which tracefs is mounted.
if [[ $EUID == 0 && ! -e /sys/kernel/tracing/events && ${BB_UNSHARED:-} != 1 ]]; then
	# /sys is made private and not /, because in a chroot / is not a mount
	exec env BB_UNSHARED=1 unshare -m --propagation unchanged sh -c \
		'mount --make-rprivate /sys && mount -t tracefs tracefs /sys/kernel/tracing; exec "$0" "$@"' "$0" "$@"
fi
