#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ci/as-owner.sh CMD...: run CMD as the user who called sudo when the working directory is theirs, so that a
# `sudo make bench` leaves no root-owned objects behind; in every other case run it as we are.
# CMD's stdout becomes stderr: stdout of `make bench` carries BMF and nothing else.
set -euo pipefail

(($#)) || { printf 'as-owner: usage: ci/as-owner.sh CMD...\n' >&2; exit 2; }
exec >&2

uid=${SUDO_UID:-} gid=${SUDO_GID:-}
if [[ $EUID != 0 || ! $uid =~ ^[1-9][0-9]*$ || ! $gid =~ ^[0-9]+$ || $(stat -c %u .) != "$uid" ]] ||
	! command -v setpriv >/dev/null; then
	exec "$@"
fi

# setpriv keeps the environment and stdio as they are (sudo would reset the one and close file descriptors).
passwd=$(getent passwd "$uid" || true)
IFS=: read -r user _ _ _ _ home _ <<<"$passwd" || true
if [[ -n $user ]]; then
	as_user=(setpriv --reuid="$uid" --regid="$gid" --init-groups)
else
	as_user=(setpriv --reuid="$uid" --regid="$gid" --clear-groups)
fi

# Give back what an earlier build as root left in the tree; -h, so that no link leads out of it.
out=$(realpath -m -- "${O:-build}")
for path in "$out" "$PWD/bpfbench"; do
	if [[ $path == "$PWD"/* && -e $path ]]; then
		find "$path" -uid 0 -exec chown -h -- "$uid:$gid" {} +
	fi
done

# With O= somewhere that the user cannot write to, root it is.
parent=$out
while [[ ! -e $parent ]]; do parent=${parent%/*}; parent=${parent:-/}; done
"${as_user[@]}" test -w "$parent" || exec "$@"

# The jobserver of the outer make may be a pipe or fifo that only root can open. Without its address the inner make
# starts one of its own with the same -jN. What follows ' -- ' are the user's variables (V=, O=, CC=): not touched.
if [[ -n ${MAKEFLAGS:-} ]]; then
	flags=$MAKEFLAGS vars=''
	if [[ $flags == *' -- '* ]]; then
		vars=" -- ${flags#* -- }"
		flags=${flags%% -- *}
	fi
	kept=''
	for flag in $flags; do
		[[ $flag == --jobserver-* ]] || kept+=" $flag"
	done
	# The first word is the single-letter flags without a dash, if any: it must stay first, without a blank.
	[[ $flags == ' '* ]] || kept=${kept# }
	export MAKEFLAGS="$kept$vars"
	unset MFLAGS
fi
[[ -z $user ]] || export USER=$user LOGNAME=$user HOME=$home
exec "${as_user[@]}" "$@"
