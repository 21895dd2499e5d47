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
# run	20261123T190346Z-compare-37a9229b	2026-11-23T19:03:46Z	6.18.44	AMD EPYC	0	-	0.1.0	tsc


# ecdf	golden_ab/v4/slope	golden_ab	v4	slope	-	0	-	run	672	60.112	61.224	NaN
golden_ab/v4/slope	58.024	0.001488
golden_ab/v4/slope	58.168	0.004464
golden_ab/v4/slope	58.264	0.005952
golden_ab/v4/slope	58.328	0.010417
golden_ab/v4/slope	58.424	0.014881
golden_ab/v4/slope	58.488	0.019345
golden_ab/v4/slope	58.536	0.026786
golden_ab/v4/slope	58.568	0.032738
golden_ab/v4/slope	58.632	0.038690
golden_ab/v4/slope	58.68	0.044643
golden_ab/v4/slope	58.728	0.050595
golden_ab/v4/slope	58.792	0.056548
golden_ab/v4/slope	58.856	0.069940
golden_ab/v4/slope	58.92	0.072917
golden_ab/v4/slope	58.936	0.081845
golden_ab/v4/slope	58.984	0.087798
golden_ab/v4/slope	59.016	0.098214
golden_ab/v4/slope	59.096	0.104167
golden_ab/v4/slope	59.144	0.110119
golden_ab/v4/slope	59.176	0.116071
golden_ab/v4/slope	59.192	0.123512
golden_ab/v4/slope	59.208	0.130952
golden_ab/v4/slope	59.24	0.138393
golden_ab/v4/slope	59.288	0.144345
golden_ab/v4/slope	59.32	0.156250
golden_ab/v4/slope	59.336	0.163690
golden_ab/v4/slope	59.368	0.174107
golden_ab/v4/slope	59.416	0.186012
golden_ab/v4/slope	59.432	0.194940
golden_ab/v4/slope	59.448	0.200893
golden_ab/v4/slope	59.496	0.206845
golden_ab/v4/slope	59.512	0.217262
golden_ab/v4/slope	59.528	0.223214
golden_ab/v4/slope	59.576	0.239583
golden_ab/v4/slope	59.608	0.247024
golden_ab/v4/slope	59.64	0.257440
golden_ab/v4/slope	59.672	0.267857
golden_ab/v4/slope	59.688	0.278274
golden_ab/v4/slope	59.72	0.287202
golden_ab/v4/slope	59.736	0.293155
golden_ab/v4/slope	59.768	0.313988
golden_ab/v4/slope	59.816	0.327381
golden_ab/v4/slope	59.832	0.339286
golden_ab/v4/slope	59.848	0.354167
golden_ab/v4/slope	59.864	0.364583
golden_ab/v4/slope	59.896	0.372024
golden_ab/v4/slope	59.912	0.382440
golden_ab/v4/slope	59.928	0.391369
golden_ab/v4/slope	59.944	0.398810
golden_ab/v4/slope	59.976	0.415179
golden_ab/v4/slope	59.992	0.428571
golden_ab/v4/slope	60.008	0.437500
golden_ab/v4/slope	60.024	0.446429
golden_ab/v4/slope	60.056	0.456845
golden_ab/v4/slope	60.072	0.477679
golden_ab/v4/slope	60.088	0.486607
golden_ab/v4/slope	60.104	0.500000
golden_ab/v4/slope	60.136	0.508929
golden_ab/v4/slope	60.152	0.523810
golden_ab/v4/slope	60.168	0.535714
golden_ab/v4/slope	60.184	0.541667
golden_ab/v4/slope	60.216	0.550595
golden_ab/v4/slope	60.232	0.561012
golden_ab/v4/slope	60.248	0.571429
golden_ab/v4/slope	60.264	0.578869
golden_ab/v4/slope	60.312	0.589286
golden_ab/v4/slope	60.328	0.602679
golden_ab/v4/slope	60.344	0.613095
golden_ab/v4/slope	60.376	0.620536
golden_ab/v4/slope	60.392	0.636905
golden_ab/v4/slope	60.408	0.647321
golden_ab/v4/slope	60.424	0.653274
golden_ab/v4/slope	60.456	0.659226
golden_ab/v4/slope	60.472	0.669643
golden_ab/v4/slope	60.504	0.687500
golden_ab/v4/slope	60.536	0.694940
golden_ab/v4/slope	60.552	0.705357
golden_ab/v4/slope	60.568	0.711310
golden_ab/v4/slope	60.584	0.718750
golden_ab/v4/slope	60.6	0.724702
golden_ab/v4/slope	60.632	0.735119
golden_ab/v4/slope	60.648	0.748512
golden_ab/v4/slope	60.664	0.754464
golden_ab/v4/slope	60.68	0.760417
golden_ab/v4/slope	60.712	0.767857
golden_ab/v4/slope	60.728	0.773810
golden_ab/v4/slope	60.744	0.784226
golden_ab/v4/slope	60.76	0.790179
golden_ab/v4/slope	60.792	0.799107
golden_ab/v4/slope	60.824	0.809524
golden_ab/v4/slope	60.84	0.818452
golden_ab/v4/slope	60.888	0.825893
golden_ab/v4/slope	60.904	0.831845
golden_ab/v4/slope	60.92	0.843750
golden_ab/v4/slope	60.952	0.851190
golden_ab/v4/slope	60.968	0.857143
golden_ab/v4/slope	61	0.870536
golden_ab/v4/slope	61.032	0.877976
golden_ab/v4/slope	61.08	0.883929
golden_ab/v4/slope	61.16	0.891369
golden_ab/v4/slope	61.224	0.901786
golden_ab/v4/slope	61.24	0.907738
golden_ab/v4/slope	61.304	0.918155
golden_ab/v4/slope	61.336	0.925595
golden_ab/v4/slope	61.384	0.931548
golden_ab/v4/slope	61.448	0.937500
golden_ab/v4/slope	61.48	0.943452
golden_ab/v4/slope	61.544	0.946429
golden_ab/v4/slope	61.64	0.952381
golden_ab/v4/slope	61.736	0.956845
golden_ab/v4/slope	61.832	0.959821
golden_ab/v4/slope	61.912	0.962798
golden_ab/v4/slope	61.976	0.965774
golden_ab/v4/slope	62.136	0.967262
golden_ab/v4/slope	62.616	0.970238
golden_ab/v4/slope	62.776	0.973214
golden_ab/v4/slope	63.112	0.974702
golden_ab/v4/slope	63.256	0.976190
golden_ab/v4/slope	64.136	0.977679
golden_ab/v4/slope	65.016	0.979167
golden_ab/v4/slope	65.08	0.980655
golden_ab/v4/slope	66.032	0.982143
golden_ab/v4/slope	66.768	0.983631
golden_ab/v4/slope	66.96	0.985119
golden_ab/v4/slope	67.568	0.986607
golden_ab/v4/slope	67.664	0.988095
golden_ab/v4/slope	67.792	0.989583
golden_ab/v4/slope	67.888	0.991071
golden_ab/v4/slope	68.112	0.992560
golden_ab/v4/slope	68.4	0.994048
golden_ab/v4/slope	68.72	0.995536
golden_ab/v4/slope	68.88	0.997024
golden_ab/v4/slope	69.296	0.998512
golden_ab/v4/slope	70.352	1.000000


# ecdf	golden_ab/v3/slope	golden_ab	v3	slope	-	0	-	run	672	179.168	183.712	NaN
golden_ab/v3/slope	158.176	0.001488
golden_ab/v3/slope	158.752	0.002976
golden_ab/v3/slope	159.456	0.007440
golden_ab/v3/slope	160.032	0.011905
golden_ab/v3/slope	160.288	0.017857
golden_ab/v3/slope	161.12	0.023810
golden_ab/v3/slope	161.696	0.029762
golden_ab/v3/slope	162.4	0.034226
golden_ab/v3/slope	162.784	0.040179
golden_ab/v3/slope	162.912	0.047619
golden_ab/v3/slope	163.104	0.055060
golden_ab/v3/slope	163.296	0.065476
golden_ab/v3/slope	163.36	0.071429
golden_ab/v3/slope	163.552	0.077381
golden_ab/v3/slope	163.616	0.083333
golden_ab/v3/slope	163.744	0.089286
golden_ab/v3/slope	163.872	0.099702
golden_ab/v3/slope	164.064	0.108631
golden_ab/v3/slope	164.192	0.114583
golden_ab/v3/slope	164.256	0.123512
golden_ab/v3/slope	164.384	0.132440
golden_ab/v3/slope	164.512	0.139881
golden_ab/v3/slope	164.64	0.147321
golden_ab/v3/slope	164.832	0.156250
golden_ab/v3/slope	164.96	0.163690
golden_ab/v3/slope	165.088	0.169643
golden_ab/v3/slope	165.28	0.177083
golden_ab/v3/slope	165.408	0.183036
golden_ab/v3/slope	165.664	0.188988
golden_ab/v3/slope	165.856	0.196429
golden_ab/v3/slope	166.112	0.202381
golden_ab/v3/slope	166.368	0.208333
golden_ab/v3/slope	166.624	0.214286
golden_ab/v3/slope	167.392	0.218750
golden_ab/v3/slope	167.904	0.226190
golden_ab/v3/slope	168.416	0.232143
golden_ab/v3/slope	169.056	0.238095
golden_ab/v3/slope	169.696	0.241071
golden_ab/v3/slope	170.464	0.242560
golden_ab/v3/slope	171.232	0.248512
golden_ab/v3/slope	171.616	0.254464
golden_ab/v3/slope	171.936	0.261905
golden_ab/v3/slope	172.128	0.267857
golden_ab/v3/slope	172.704	0.273810
golden_ab/v3/slope	173.408	0.275298
golden_ab/v3/slope	174.112	0.279762
golden_ab/v3/slope	175.52	0.284226
golden_ab/v3/slope	175.84	0.290179
golden_ab/v3/slope	176.032	0.296131
golden_ab/v3/slope	176.288	0.303571
golden_ab/v3/slope	176.416	0.309524
golden_ab/v3/slope	176.608	0.315476
golden_ab/v3/slope	176.8	0.321429
golden_ab/v3/slope	176.928	0.328869
golden_ab/v3/slope	177.248	0.337798
golden_ab/v3/slope	177.312	0.343750
golden_ab/v3/slope	177.44	0.355655
golden_ab/v3/slope	177.568	0.361607
golden_ab/v3/slope	177.696	0.373512
golden_ab/v3/slope	177.824	0.382440
golden_ab/v3/slope	177.952	0.389881
golden_ab/v3/slope	178.208	0.400298
golden_ab/v3/slope	178.272	0.407738
golden_ab/v3/slope	178.464	0.418155
golden_ab/v3/slope	178.528	0.425595
golden_ab/v3/slope	178.592	0.431548
golden_ab/v3/slope	178.656	0.441964
golden_ab/v3/slope	178.784	0.455357
golden_ab/v3/slope	178.912	0.471726
golden_ab/v3/slope	178.976	0.482143
golden_ab/v3/slope	179.104	0.495536
golden_ab/v3/slope	179.168	0.510417
golden_ab/v3/slope	179.232	0.517857
golden_ab/v3/slope	179.296	0.526786
golden_ab/v3/slope	179.36	0.532738
golden_ab/v3/slope	179.424	0.550595
golden_ab/v3/slope	179.552	0.559524
golden_ab/v3/slope	179.68	0.572917
golden_ab/v3/slope	179.744	0.589286
golden_ab/v3/slope	179.808	0.596726
golden_ab/v3/slope	179.872	0.607143
golden_ab/v3/slope	179.936	0.614583
golden_ab/v3/slope	180.064	0.622024
golden_ab/v3/slope	180.128	0.633929
golden_ab/v3/slope	180.192	0.641369
golden_ab/v3/slope	180.256	0.647321
golden_ab/v3/slope	180.32	0.657738
golden_ab/v3/slope	180.384	0.666667
golden_ab/v3/slope	180.448	0.677083
golden_ab/v3/slope	180.512	0.683036
golden_ab/v3/slope	180.576	0.690476
golden_ab/v3/slope	180.704	0.700893
golden_ab/v3/slope	180.768	0.715774
golden_ab/v3/slope	180.832	0.723214
golden_ab/v3/slope	180.96	0.733631
golden_ab/v3/slope	181.024	0.741071
golden_ab/v3/slope	181.152	0.754464
golden_ab/v3/slope	181.216	0.761905
golden_ab/v3/slope	181.344	0.772321
golden_ab/v3/slope	181.408	0.778274
golden_ab/v3/slope	181.472	0.784226
golden_ab/v3/slope	181.6	0.790179
golden_ab/v3/slope	181.664	0.796131
golden_ab/v3/slope	181.792	0.802083
golden_ab/v3/slope	181.92	0.809524
golden_ab/v3/slope	182.048	0.821429
golden_ab/v3/slope	182.176	0.828869
golden_ab/v3/slope	182.304	0.839286
golden_ab/v3/slope	182.432	0.848214
golden_ab/v3/slope	182.624	0.854167
golden_ab/v3/slope	182.88	0.860119
golden_ab/v3/slope	183.008	0.869048
golden_ab/v3/slope	183.136	0.876488
golden_ab/v3/slope	183.328	0.883929
golden_ab/v3/slope	183.52	0.892857
golden_ab/v3/slope	183.712	0.901786
golden_ab/v3/slope	183.84	0.907738
golden_ab/v3/slope	184.16	0.915179
golden_ab/v3/slope	185.12	0.919643
golden_ab/v3/slope	185.376	0.925595
golden_ab/v3/slope	186.144	0.933036
golden_ab/v3/slope	187.04	0.934524
golden_ab/v3/slope	187.808	0.940476
golden_ab/v3/slope	191.072	0.944940
golden_ab/v3/slope	196.128	0.946429
golden_ab/v3/slope	210.976	0.947917
golden_ab/v3/slope	217.248	0.949405
golden_ab/v3/slope	239.52	0.950893
golden_ab/v3/slope	242.592	0.952381
golden_ab/v3/slope	248.224	0.953869
golden_ab/v3/slope	250.336	0.956845
golden_ab/v3/slope	251.936	0.958333
golden_ab/v3/slope	254.752	0.959821
golden_ab/v3/slope	255.968	0.961310
golden_ab/v3/slope	256.672	0.968750
golden_ab/v3/slope	257.824	0.971726
golden_ab/v3/slope	258.784	0.974702
golden_ab/v3/slope	259.488	0.980655
golden_ab/v3/slope	260.576	0.986607
golden_ab/v3/slope	262.208	0.991071
golden_ab/v3/slope	290.752	0.994048
golden_ab/v3/slope	294.72	0.995536
golden_ab/v3/slope	301.504	0.997024
golden_ab/v3/slope	304.192	0.998512
golden_ab/v3/slope	316.608	1.000000


# ecdf	golden_ab/empty/slope	golden_ab	empty	slope	-	0	floor	run	336	28.692	29.228	NaN
golden_ab/empty/slope	27.324	0.005952
golden_ab/empty/slope	27.38	0.011905
golden_ab/empty/slope	27.404	0.017857
golden_ab/empty/slope	27.5	0.023810
golden_ab/empty/slope	27.564	0.026786
golden_ab/empty/slope	27.62	0.029762
golden_ab/empty/slope	27.644	0.035714
golden_ab/empty/slope	27.7	0.038690
golden_ab/empty/slope	27.716	0.044643
golden_ab/empty/slope	27.78	0.050595
golden_ab/empty/slope	27.804	0.059524
golden_ab/empty/slope	27.844	0.065476
golden_ab/empty/slope	27.876	0.068452
golden_ab/empty/slope	27.9	0.074405
golden_ab/empty/slope	27.916	0.080357
golden_ab/empty/slope	27.94	0.095238
golden_ab/empty/slope	27.98	0.101190
golden_ab/empty/slope	27.996	0.107143
golden_ab/empty/slope	28.02	0.122024
golden_ab/empty/slope	28.06	0.148810
golden_ab/empty/slope	28.076	0.157738
golden_ab/empty/slope	28.092	0.163690
golden_ab/empty/slope	28.1	0.169643
golden_ab/empty/slope	28.116	0.178571
golden_ab/empty/slope	28.172	0.184524
golden_ab/empty/slope	28.196	0.199405
golden_ab/empty/slope	28.22	0.211310
golden_ab/empty/slope	28.26	0.217262
golden_ab/empty/slope	28.276	0.235119
golden_ab/empty/slope	28.3	0.255952
golden_ab/empty/slope	28.316	0.267857
golden_ab/empty/slope	28.332	0.273810
golden_ab/empty/slope	28.356	0.294643
golden_ab/empty/slope	28.38	0.306548
golden_ab/empty/slope	28.396	0.312500
golden_ab/empty/slope	28.412	0.324405
golden_ab/empty/slope	28.42	0.336310
golden_ab/empty/slope	28.436	0.354167
golden_ab/empty/slope	28.452	0.360119
golden_ab/empty/slope	28.46	0.366071
golden_ab/empty/slope	28.476	0.372024
golden_ab/empty/slope	28.516	0.380952
golden_ab/empty/slope	28.532	0.386905
golden_ab/empty/slope	28.556	0.398810
golden_ab/empty/slope	28.572	0.413690
golden_ab/empty/slope	28.596	0.428571
golden_ab/empty/slope	28.612	0.440476
golden_ab/empty/slope	28.636	0.455357
golden_ab/empty/slope	28.652	0.470238
golden_ab/empty/slope	28.676	0.491071
golden_ab/empty/slope	28.692	0.508929
golden_ab/empty/slope	28.716	0.532738
golden_ab/empty/slope	28.732	0.556548
golden_ab/empty/slope	28.756	0.568452
golden_ab/empty/slope	28.772	0.583333
golden_ab/empty/slope	28.796	0.613095
golden_ab/empty/slope	28.812	0.619048
golden_ab/empty/slope	28.828	0.625000
golden_ab/empty/slope	28.836	0.630952
golden_ab/empty/slope	28.852	0.654762
golden_ab/empty/slope	28.868	0.663690
golden_ab/empty/slope	28.876	0.687500
golden_ab/empty/slope	28.892	0.702381
golden_ab/empty/slope	28.908	0.708333
golden_ab/empty/slope	28.916	0.720238
golden_ab/empty/slope	28.932	0.741071
golden_ab/empty/slope	28.948	0.750000
golden_ab/empty/slope	28.972	0.773810
golden_ab/empty/slope	28.988	0.779762
golden_ab/empty/slope	29.012	0.806548
golden_ab/empty/slope	29.028	0.818452
golden_ab/empty/slope	29.036	0.824405
golden_ab/empty/slope	29.052	0.833333
golden_ab/empty/slope	29.068	0.842262
golden_ab/empty/slope	29.092	0.857143
golden_ab/empty/slope	29.132	0.866071
golden_ab/empty/slope	29.148	0.872024
golden_ab/empty/slope	29.172	0.883929
golden_ab/empty/slope	29.188	0.889881
golden_ab/empty/slope	29.228	0.901786
golden_ab/empty/slope	29.236	0.907738
golden_ab/empty/slope	29.252	0.913690
golden_ab/empty/slope	29.268	0.919643
golden_ab/empty/slope	29.292	0.925595
golden_ab/empty/slope	29.324	0.931548
golden_ab/empty/slope	29.332	0.940476
golden_ab/empty/slope	29.412	0.943452
golden_ab/empty/slope	29.532	0.946429
golden_ab/empty/slope	29.548	0.952381
golden_ab/empty/slope	29.588	0.958333
golden_ab/empty/slope	29.628	0.961310
golden_ab/empty/slope	29.668	0.967262
golden_ab/empty/slope	29.748	0.973214
golden_ab/empty/slope	29.804	0.976190
golden_ab/empty/slope	32.012	0.979167
golden_ab/empty/slope	32.132	0.982143
golden_ab/empty/slope	32.564	0.985119
golden_ab/empty/slope	33.032	0.988095
golden_ab/empty/slope	33.72	0.991071
golden_ab/empty/slope	33.944	0.994048
golden_ab/empty/slope	34.04	0.997024
golden_ab/empty/slope	34.216	1.000000


# loads	golden_ab/v4/slope	golden_ab	v4	slope	-	0	-	run
golden_ab/v4/slope	0	24	59.55
golden_ab/v4/slope	2	8	60.032
golden_ab/v4/slope	4	20	59.889
golden_ab/v4/slope	6	48	59.011
golden_ab/v4/slope	7	20	60.428
golden_ab/v4/slope	8	56	59.578
golden_ab/v4/slope	10	52	60.904
golden_ab/v4/slope	12	44	60.096
golden_ab/v4/slope	13	40	60.193
golden_ab/v4/slope	14	28	59.712
golden_ab/v4/slope	15	8	60.861
golden_ab/v4/slope	16	48	60.59
golden_ab/v4/slope	17	32	60.566


# loads	golden_ab/v3/slope	golden_ab	v3	slope	-	0	-	run
golden_ab/v3/slope	0	24	178.732
golden_ab/v3/slope	2	8	180.239
golden_ab/v3/slope	4	36	166.918
golden_ab/v3/slope	5	20	177.374
golden_ab/v3/slope	6	20	178.364
golden_ab/v3/slope	8	8	179.506
golden_ab/v3/slope	10	12	184.123
golden_ab/v3/slope	12	40	170.328
golden_ab/v3/slope	14	8	181.342
golden_ab/v3/slope	16	32	167.186


# loads	golden_ab/empty/slope	golden_ab	empty	slope	-	0	floor	run
golden_ab/empty/slope	0	12	28.397
golden_ab/empty/slope	2	12	28.398
golden_ab/empty/slope	4	12	28.453
golden_ab/empty/slope	6	32	28.401
golden_ab/empty/slope	8	16	28.657
golden_ab/empty/slope	10	28	29.015
golden_ab/empty/slope	12	12	28.556
golden_ab/empty/slope	14	12	28.846
golden_ab/empty/slope	16	36	28.976


# net	golden_ab/v4/slope	golden_ab	v4	slope	-	0	-	run
golden_ab/v4/slope	60.096	59.578	60.59	28.556	31.436	30.866	31.634


# net	golden_ab/v3/slope	golden_ab	v3	slope	-	0	-	run
golden_ab/v3/slope	178.548	167.186	181.342	28.556	150.335	138.465	152.496


# net	golden_ab/empty/slope	golden_ab	empty	slope	-	0	floor	run
golden_ab/empty/slope	28.556	28.398	28.976	NaN	NaN	NaN	NaN


# cost	golden_ab	v4	slope	-	-
golden_ab	v4	slope	-	0	60.096	59.578	60.59	-	NaN


# cost	golden_ab	v3	slope	-	-
golden_ab	v3	slope	-	0	178.548	167.186	181.342	-	NaN


# cost	golden_ab	empty	slope	-	floor
golden_ab	empty	slope	-	0	28.556	28.398	28.976	-	NaN


# ab	golden_ab/slope	v4	v3	1	95	regressed
golden_ab/slope	matched	196.544	173.573	213.311
golden_ab/slope	unmatched	201.865	176.717	219.354
golden_ab/slope	net	372.853	335.575	407.362
golden_ab/slope	pair	200.71	NaN	NaN
golden_ab/slope	pair	200.28	NaN	NaN
golden_ab/slope	unmatched-pair	176.717	NaN	NaN
golden_ab/slope	pair	212.703	NaN	NaN
golden_ab/slope	unmatched-pair	201.99	NaN	NaN
golden_ab/slope	pair	195.31	NaN	NaN
golden_ab/slope	unmatched-pair	201.25	NaN	NaN
golden_ab/slope	unmatched-pair	210.522	NaN	NaN
golden_ab/slope	unmatched-pair	202.23	NaN	NaN
golden_ab/slope	pair	175.059	NaN	NaN
golden_ab/slope	unmatched-pair	219.354	NaN	NaN
golden_ab/slope	pair	213.311	NaN	NaN
golden_ab/slope	unmatched-pair	198.402	NaN	NaN
golden_ab/slope	pair	173.573	NaN	NaN
