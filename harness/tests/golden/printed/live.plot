# bpfbench plot data, version 4. Tabs part the columns, two empty lines the blocks (gnuplot: index).
# A block begins with a comment line, its name and what it is of, parted by tabs. NaN: none.
# run	id	started	kernel	cpu	steal_percent	why_incomplete	bpfbench	clocksource, once, before the blocks;
#	clocksource "instructions": ns are machine instructions
# ecdf	case	scenario	variant	drive	param	param_value	role	sample	samples	p50_ns	p90_ns	p99_ns,
#	one block a case; its rows:
#	case	ns	share (of the valid samples that took at most that long; thinned, the ends are kept)
# backlog	case	scenario	variant	drive	param	param_value	role	sample, one block a case with a ring; its rows:
#	case	ms	bytes (in the ring; a row of NaN parts the loads)
# loads	(as backlog), one block a case that was loaded anew; its rows, one a load that counts:
#	case	load	jit_address_mod_64	ns (its mean without outliers)
# net	(as backlog), one block a case; its row:
#	case	latency_ns	lo_ns	hi_ns	floor_ns	net_ns	net_lo_ns	net_hi_ns
# cost	scenario	variant	drive	param	role, one block each; its rows, in the order of the run:
#	scenario	variant	drive	param	param_value	latency_ns	lo_ns	hi_ns	value_name	map_bytes
# slowdown, as cost; its rows: percent above the floor instead of ns.
# ab	name	base	head	threshold_percent	confidence_percent	verdict, one block a comparison; its rows:
#	name	what	percent	lo	hi (of head above base; what: matched, unmatched, net, or pair, unmatched-pair: of one)
# lines	(as backlog, the scenario with its program, the variant a part of it), one block a line
#	or call of one run that takes 3 ns or more, 20 at most, the longest first; its row:
#	case	ns	lo_ns	hi_ns	cold_ns
# sample: the time is that of a "run", "call", "command" or "lag".
# role is "floor" for the program that the others are measured against, else "-".
# run	20261123T190149Z-live-33237374	2026-11-23T19:01:49Z	6.18.44	AMD EPYC	0	-	0.1.0	tsc


# ecdf	live/live_counts_its_runs/live	live	live_counts_its_runs	live	-	0	-	run	1570	70	121	484.1
live/live_counts_its_runs/live	60	0.014013
live/live_counts_its_runs/live	61	0.016561
live/live_counts_its_runs/live	70	0.592994
live/live_counts_its_runs/live	71	0.661146
live/live_counts_its_runs/live	80	0.763694
live/live_counts_its_runs/live	81	0.778344
live/live_counts_its_runs/live	90	0.812102
live/live_counts_its_runs/live	91	0.818471
live/live_counts_its_runs/live	100	0.844586
live/live_counts_its_runs/live	110	0.871975
live/live_counts_its_runs/live	111	0.877070
live/live_counts_its_runs/live	120	0.898726
live/live_counts_its_runs/live	130	0.911465
live/live_counts_its_runs/live	140	0.919108
live/live_counts_its_runs/live	150	0.921019
live/live_counts_its_runs/live	160	0.924204
live/live_counts_its_runs/live	170	0.925478
live/live_counts_its_runs/live	180	0.928662
live/live_counts_its_runs/live	190	0.929936
live/live_counts_its_runs/live	210	0.933121
live/live_counts_its_runs/live	220	0.936306
live/live_counts_its_runs/live	230	0.944586
live/live_counts_its_runs/live	240	0.950955
live/live_counts_its_runs/live	250	0.952866
live/live_counts_its_runs/live	260	0.958599
live/live_counts_its_runs/live	270	0.961146
live/live_counts_its_runs/live	280	0.963694
live/live_counts_its_runs/live	290	0.966242
live/live_counts_its_runs/live	300	0.966879
live/live_counts_its_runs/live	311	0.967516
live/live_counts_its_runs/live	321	0.970064
live/live_counts_its_runs/live	330	0.970701
live/live_counts_its_runs/live	340	0.971975
live/live_counts_its_runs/live	350	0.976433
live/live_counts_its_runs/live	360	0.977707
live/live_counts_its_runs/live	370	0.980255
live/live_counts_its_runs/live	380	0.980892
live/live_counts_its_runs/live	390	0.981529
live/live_counts_its_runs/live	401	0.984076
live/live_counts_its_runs/live	410	0.984713
live/live_counts_its_runs/live	420	0.985987
live/live_counts_its_runs/live	430	0.987261
live/live_counts_its_runs/live	450	0.988535
live/live_counts_its_runs/live	470	0.989172
live/live_counts_its_runs/live	481	0.989809
live/live_counts_its_runs/live	491	0.990446
live/live_counts_its_runs/live	501	0.991720
live/live_counts_its_runs/live	520	0.992357
live/live_counts_its_runs/live	530	0.993631
live/live_counts_its_runs/live	550	0.994904
live/live_counts_its_runs/live	571	0.995541
live/live_counts_its_runs/live	591	0.996178
live/live_counts_its_runs/live	601	0.998089
live/live_counts_its_runs/live	641	0.998726
live/live_counts_its_runs/live	691	0.999363
live/live_counts_its_runs/live	951	1.000000


# net	live/live_counts_its_runs/live	live	live_counts_its_runs	live	-	0	-	run
live/live_counts_its_runs/live	73.833	72.853	78.2	NaN	NaN	NaN	NaN


# cost	live	live_counts_its_runs	live	-	-
live	live_counts_its_runs	live	-	0	73.833	72.853	78.2	-	NaN
