#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Privileged unit tests in Linux 6.1, in a virtual machine.
# slow: minutes where machines are emulated
# shellcheck source=harness/tests/vm/vm.sh
. "$(dirname "$0")/vm.sh"

in_kernel 6.1
plan_done
