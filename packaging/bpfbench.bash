# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of bpfbench in bash. Commands, options, formats and what kind of value an option takes are read from `--help`,
# scenarios and stored runs from `list`, when they are asked for: there is nothing here to keep up to date.

# Those lines of stdin that begin with $1. Where there are none, bash goes on with names of files (complete -o default).
_bpfbench_reply() {
	local line

	while IFS= read -r line; do
		[[ $line != "$1"* ]] || COMPREPLY+=("$line")
	done
}

# _bpfbench_takes OPTION: what it takes, as FILE of "  -o, --output=FILE   ...", in the help on stdin.
_bpfbench_takes() {
	awk -v want="$1" '/^  (    )?-/ {
		long = $1 ~ /^--/ ? $1 : $2
		at = index(long, "=")
		if (at && ($1 == want "," || substr(long, 1, at - 1) == want))
			print substr(long, at + 1)
	}'
}

# The stored runs, in the folder that the words so far name.
_bpfbench_runs() {
	local i folder

	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == --results ]] || continue
		folder=${COMP_WORDS[i + 1]}
		[[ $folder != '=' ]] || folder=${COMP_WORDS[i + 2]}
	done
	"$1" list --runs ${folder:+"--results=$folder"} 2>/dev/null
}

_bpfbench() {
	local program=${COMP_WORDS[0]/#\~/$HOME} cur=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD command=run option='' takes='' help

	COMPREPLY=()
	if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then
		_bpfbench_reply "$cur" < <("$program" --help 2>/dev/null | sed -n '/^Commands/,/^Options/s/^  \([a-z]*\) .*/\1/p')
		return
	fi
	[[ ${COMP_WORDS[1]} == -* ]] || command=${COMP_WORDS[1]}
	help=$("$program" "$command" --help 2>/dev/null) || return 0

	# bash makes three words of --option=value: "--option", "=", "value".
	if [[ $cur == '=' ]]; then
		cur=''
	elif [[ ${COMP_WORDS[at - 1]} == '=' ]]; then
		at=$((at - 1))
	fi
	[[ ${COMP_WORDS[at - 1]} != -* ]] || option=${COMP_WORDS[at - 1]}
	[[ -z $option ]] || takes=$(_bpfbench_takes "$option" <<<"$help")
	if [[ -z $takes && $cur == -* ]]; then
		_bpfbench_reply "$cur" < <(sed -nE 's/^  (    |-., )?(--[a-z-]+).*/\2/p' <<<"$help")
		return
	fi
	case ${takes:+$option }$takes in
	'--format NAME' | '-f NAME')
		_bpfbench_reply "$cur" < <(sed -n '/^Formats:/,/^$/s/^  \([a-z-]*\) .*/\1/p' <<<"$help") ;;
	'--scenario NAME' | '-s NAME') _bpfbench_reply "$cur" < <("$program" list --scenarios 2>/dev/null) ;;
	*' DIR') _bpfbench_reply "$cur" < <(compgen -d -- "$cur") ;;
	'')
		case ${help%%$'\n'*} in # the usage
		*'[RUN]'*) _bpfbench_reply "$cur" < <(echo latest; _bpfbench_runs "$program") ;;
		*'[OLD NEW]'*) _bpfbench_reply "$cur" < <(_bpfbench_runs "$program") ;;
		*'[SCENARIO]'*) _bpfbench_reply "$cur" < <("$program" list --scenarios 2>/dev/null) ;;
		esac ;;
	esac
}

complete -o default -F _bpfbench bpfbench
