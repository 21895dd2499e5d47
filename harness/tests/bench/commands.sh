# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# To be sourced. Commands that load BPF programs: Debian's libbpf-tools, bpftrace's scripts, and those of the file $COMMANDS.
# The functions each_... call ONE NAME COMMAND... for each of their commands whose name contains one of the PATTERNs (without PATTERNs: for
# all of them).

# wanted NAME [PATTERN...]: true if NAME contains one of the PATTERNs, or if there are none.
wanted() {
	local pattern

	(($# > 1)) || return 0
	for pattern in "${@:2}"; do [[ $1 != *"$pattern"* ]] || return 0; done
	return 1
}

# Arguments without which these tools load no program. javagc accepts any process.
declare -A arguments=([fsdist]='-t ext4' [fsslower]='-t ext4' [funclatency]=vfs_read [ksnoop]='trace vfs_read' [javagc]="-p $$")

# each_libbpf_tool ONE [PATTERN...]
each_libbpf_tool() {
	local one=$1 tool

	command -v opensnoop >/dev/null || { echo 'skipped: libbpf-tools is not installed' >&2; return 0; }
	while IFS= read -r tool; do
		# shellcheck disable=SC2086 # words
		! wanted "${tool##*/}" "${@:2}" || "$one" "${tool##*/}" "$tool" ${arguments[${tool##*/}]:-}
	done < <(dpkg -L libbpf-tools | grep '/sbin/' | sort)
}

# each_bpftrace_script ONE [PATTERN...]
each_bpftrace_script() {
	local one=$1 script

	command -v bpftrace >/dev/null || { echo 'skipped: bpftrace is not installed' >&2; return 0; }
	for script in /usr/sbin/*.bt; do
		! wanted "${script##*/}" "${@:2}" || "$one" "${script##*/}" bpftrace "$script"
	done
}

# each_command ONE: for each line of the file $COMMANDS, which is a command
each_command() {
	local line i=0

	[[ -n ${COMMANDS:-} ]] || return 0
	while IFS= read -r line; do "$1" "command $((++i))" sh -c "$line"; done <"$COMMANDS"
}
