# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the benches whose bounds must hold on a busy machine. keep_cpus_busy starts a busy loop on every CPU; leave_cpus ends them
# and belongs into the script's EXIT trap.
busy=()
keep_cpus_busy() {
	local cpu

	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" bash -c 'while :; do :; done' &
		busy+=($!)
	done
}
leave_cpus() { ((${#busy[@]} == 0)) || kill "${busy[@]}" 2>/dev/null || true; }
