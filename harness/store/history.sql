CREATE TABLE machines ( -- the properties by which runs are comparable; see `bpfbench check`
  machine_no INTEGER PRIMARY KEY,
  kernel_release TEXT NOT NULL,
  kernel_version TEXT NOT NULL,
  arch TEXT NOT NULL,
  cpu_model TEXT NOT NULL,
  microcode TEXT NOT NULL,
  smt TEXT NOT NULL,
  governor TEXT NOT NULL,
  hypervisor TEXT NOT NULL,
  clocksource TEXT NOT NULL,
  mitigations TEXT NOT NULL,
  jit_enable TEXT NOT NULL,
  jit_harden TEXT NOT NULL,
  clang TEXT NOT NULL
);
CREATE TABLE cases ( -- a variant under a drive, with the value of the drive's parameter
  case_no INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- no two are equal
  scenario TEXT NOT NULL,
  variant TEXT NOT NULL,
  drive TEXT NOT NULL,
  param TEXT, -- NULL: the drive has none
  param_value INTEGER NOT NULL
);
CREATE TABLE runs (
  run_no INTEGER PRIMARY KEY,
  file TEXT NOT NULL, -- its name, without .json
  id TEXT NOT NULL, -- the same, but for a copy
  started TEXT, -- UTC, 2026-11-21T13:17:00Z; NULL: unknown
  incomplete TEXT, -- the reason why the run ended early; NULL: it is whole
  git_commit TEXT NOT NULL,
  machine_no INTEGER NOT NULL,
  is_comparison INTEGER NOT NULL, -- 1: of two builds, and without points
  size_bytes INTEGER NOT NULL, -- of the file
  changed_ns INTEGER -- mtime of the file since 1970; NULL: it is read again next time
);
CREATE TABLE points ( -- a case of a run
  run_no INTEGER NOT NULL,
  case_no INTEGER NOT NULL,
  latency_ns REAL, -- over loads, with its 95 % interval
  latency_lo_ns REAL,
  latency_hi_ns REAL,
  latency_ln_se REAL, -- standard error of its ln
  ratio REAL, -- to the anchor of the same run; NULL: there is none, or this is it
  ratio_lo REAL,
  ratio_hi REAL,
  ratio_ln_se REAL,
  relative REAL, -- in pieces of the reference; NULL: it was not measured
  relative_lo REAL,
  relative_hi REAL,
  relative_ln_se REAL,
  loads INTEGER NOT NULL, -- that count
  voids INTEGER NOT NULL, -- loads that do not count
  is_anchor INTEGER NOT NULL -- 0 or 1
);
