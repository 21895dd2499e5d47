# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the benches that must hold on a machine with other work to do: a busy loop on every CPU, from keep_cpus_busy to
# leave_cpus, which belongs into the script's EXIT trap.
busy=()
keep_cpus_busy() {
	local cpu

	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" bash -c 'while :; do :; done' &
		busy+=($!)
	done
}
leave_cpus() { ((${#busy[@]} == 0)) || kill "${busy[@]}" 2>/dev/null || true; }
