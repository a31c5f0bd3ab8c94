/** A part of the source, and the tests that judge its mutants. */
export interface Room {
  readonly name: string
  /** Globs of the mutated files. */
  readonly files: readonly string[]
  /**
   * Globs of the test files that run on the mutants, quick ones first. The list is short, because every mutant starts
   * these files anew.
   */
  readonly tests: readonly string[]
  /** Number of runs of each law, as in `RUNS`. */
  readonly runs: number
  /** True if the tests start a Redis, where it is installed. */
  readonly withRedis?: boolean
  /** Number of slices that a run mutates by default. Absent if it mutates the whole room. */
  readonly sample?: number
}

/** Number of slices of a large room that one weekly run mutates. */
const WEEKLY = 40

/** Goldens, and laws that hold for requests, answers and streams of every format. */
const CODECS = [
  'test/mutation/golden.case.ts',
  'test/laws/{errors,fold,refusals,required-fields,one-at-a-time,late-losses,enum-answers,realtime}.test.ts',
  'test/laws/{renamed-results,completed-answers,casing,locate,losses-of-streams,late-citations}.test.ts',
  'test/laws/{own-shapes,prefix-stability,searches,hosted-tools,usage,rubbish,same-format-identity}.test.ts',
  'test/laws/{cut-streams,echo,exact-loss,exact-loss-of-results,stream-round-trip}.test.ts',
]

export const ROOMS: readonly Room[] = [
  {
    name: 'rates',
    files: ['src/upstreams/catalogue/rates.ts'],
    tests: ['test/upstreams/catalogue/{catalogue,rates}.test.ts'],
    runs: 100,
  },
  {
    name: 'router',
    files: [
      'src/upstreams/{router,best-format,pooled-keys,channel-health,ranks,draw}.ts',
      'src/upstreams/{upstream-names,accounts-of-channels}.ts',
    ],
    tests: ['test/upstreams/*.test.ts', 'test/laws/routing.test.ts'],
    runs: 100,
  },
  {
    name: 'limits',
    files: [
      'src/accounts/limits/{ample-room,bucket,earlier-spend,early-engine,engine,held-quota,holding-engine,index,key-use,known-room}.ts',
      'src/accounts/limits/{pending-steps,reachability,refusal,remote-engine,reservation,shared-engine,slot-names,slots,spend}.ts',
    ],
    tests: [
      'test/accounts/limits/{bucket,earlier-spend,early-engine,pending-steps,reachability,refusal,slot-names,slots,spend,transfer}.test.ts',
      'test/accounts/limits/{held-quota,holding-engine,reservation,reservation-cover,redis-counts}.test.ts',
      'test/models/{limits/limits,shared-limits/shared-limits}.test.ts',
      'test/accounts/limits/{engines,laws,shared-engine}.test.ts',
    ],
    runs: 60,
  },
  {
    name: 'redis-limits',
    files: ['src/accounts/limits/{redis-counts,failover-engine,spend-recount}.ts'],
    tests: ['test/accounts/limits/{redis-counts,engines,shared-engine,machine,redis-eviction}.test.ts'],
    runs: 60,
    withRedis: true,
    sample: 8,
  },
  {
    name: 'usage',
    files: ['src/accounts/usage/*.ts', 'src/store/usage/*.ts', 'src/store/usage-*.ts'],
    tests: [
      'test/store/usage/*.test.ts',
      'test/store/{usage-parts,usage-series,usage-exact}.test.ts',
      'test/store/usage.test.ts',
      'test/models/usage/*.test.ts',
      'test/accounts/usage/*.test.ts',
    ],
    runs: 100,
  },
  {
    name: 'usage-recorder',
    files: ['src/gateway/usage-recorder.ts'],
    tests: ['test/gateway/{usage-recorder,priced}.test.ts'],
    runs: 100,
  },
  {
    name: 'canonical',
    files: ['src/canonical/**/*.ts'],
    tests: ['test/canonical/**/*.test.ts', ...CODECS, 'test/laws/shown-reasoning.test.ts'],
    runs: 8,
    sample: WEEKLY,
  },
  {
    name: 'ingress',
    files: ['src/ingress/**/*.ts'],
    tests: ['test/ingress/**/*.test.ts', ...CODECS, 'test/laws/wrong-types.test.ts'],
    runs: 8,
    sample: WEEKLY,
  },
  {
    name: 'egress',
    files: ['src/egress/**/*.ts'],
    tests: ['test/egress/**/*.test.ts', ...CODECS],
    runs: 8,
    sample: WEEKLY,
  },
]
