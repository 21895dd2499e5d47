#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs as root in the virtual machine, after init.sh: `bpfbench check`, and the privileged tests. Results go to /run/out, which is a folder
# of the host: `check`, its output; `tests`, the output of run.sh; `status`, the exit code of run.sh.
set -eu

out=/run/out
# shellcheck source=/dev/null
. $out/env
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 O BB_TEST_TIMEOUT
export BB_ALONE=1	# nobody else is on this machine: tests may attach what acts on all of it

ln -sfn /proc/self/fd /dev/fd
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control || true	# as systemd does
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t securityfs securityfs /sys/kernel/security
busybox ip link set lo up	# a bare system has no iproute2

cd "$ROOT"
./bpfbench check >$out/check 2>&1 || true
status=0
# shellcheck disable=SC2086 # a list of names
harness/tests/run.sh $TESTS >$out/tests 2>&1 || status=$?
echo $status >$out/status
