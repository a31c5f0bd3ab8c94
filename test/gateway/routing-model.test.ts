import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { helloWhole, json } from '../builders/chat.ts'
import { TestServer } from '../builders/gateway.ts'
import { keyIn, poolAt } from '../builders/key-pools.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'
import { RUNS, USUAL_RUNS } from '../laws/runs.ts'

/*
 * The router beside a small model of it: channels with priorities and pools of keys whose upstreams fail in every way.
 * The model knows which targets a request may try next, what a failure rests and for how long, and when to give up.
 */

afterEach(() => void vi.restoreAllMocks())

/** What a failure means: how long the target rests, in seconds, and whether the next one is tried. */
interface Meaning {
  readonly script: Script
  readonly status: number
  /** Rest of a channel with one key. */
  readonly rest: number
  /** Rest of the key of a pool. Absent if the failure concerns the whole channel. */
  readonly keyRest?: number
  /** True if no other target is tried. */
  readonly isFinal?: true
}

const says =
  (status: number, headers: Record<string, string> = {}): Script =>
  response =>
    json(response, { error: { message: 'No.', type: 'x', code: null } }, status, headers)

const KINDS = {
  ok: { script: helloWhole, status: 200, rest: 0 },
  bad: { script: says(400), status: 400, rest: 0, isFinal: true },
  unknownKey: { script: says(401), status: 503, rest: 60, keyRest: 3600 },
  unpaid: { script: says(402), status: 503, rest: 60, keyRest: 600 },
  forbidden: { script: says(403), status: 503, rest: 60, keyRest: 60 },
  missing: { script: says(404), status: 404, rest: 0, keyRest: 0 },
  tooLarge: { script: says(413), status: 413, rest: 0 },
  limited: { script: says(429), status: 429, rest: 5, keyRest: 5 },
  limitedShort: { script: says(429, { 'retry-after': '20' }), status: 429, rest: 20, keyRest: 20 },
  limitedLong: { script: says(429, { 'retry-after': '500' }), status: 429, rest: 60, keyRest: 500 },
  limitedInMs: { script: says(429, { 'retry-after-ms': '9000' }), status: 429, rest: 9, keyRest: 9 },
  broken: { script: says(500), status: 502, rest: 5 },
  gateway: { script: says(502), status: 502, rest: 5 },
  busy: { script: says(503, { 'retry-after': '30' }), status: 503, rest: 30 },
  overloaded: { script: says(529), status: 503, rest: 5 },
  late: { script: says(504), status: 504, rest: 5 },
  page: {
    script: response => response.setHeader('content-type', 'text/html').end('<html></html>'),
    status: 502,
    rest: 5,
  },
  empty: { script: response => response.end(), status: 502, rest: 5 },
  noObject: { script: response => json(response, [1, 2]), status: 502, rest: 5 },
} as const satisfies { readonly [name: string]: Meaning }
type Kind = keyof typeof KINDS
const FAILURES = Object.keys(KINDS) as Kind[]

interface ChannelPlan {
  readonly priority: number
  /** Answers of each key, one after the other. Afterwards, the key answers well. */
  readonly keys: readonly (readonly Kind[])[]
}
interface Plan {
  readonly channels: readonly ChannelPlan[]
  /** Seconds between the requests. */
  readonly pauses: readonly number[]
}

const kind = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Kind>('ok') },
  { weight: 3, arbitrary: fc.constantFrom(...FAILURES) },
)
const answers = fc.array(kind, { maxLength: 12 })
const plans: fc.Arbitrary<Plan> = fc.record({
  channels: fc.array(
    fc.record({ priority: fc.integer({ min: 0, max: 1 }), keys: fc.array(answers, { minLength: 1, maxLength: 3 }) }),
    { minLength: 1, maxLength: 3 },
  ),
  pauses: fc.array(fc.constantFrom(0, 1, 4.5, 6, 10, 25, 61, 400, 3700), { minLength: 1, maxLength: 12 }),
})

/** A target in the model. */
interface ModelTarget {
  readonly channel: number
  readonly key: string
  restEnd: number
}

class Model {
  readonly targets: readonly ModelTarget[]
  /** Ends of the rests of whole channels. */
  readonly channelRests: number[]
  private readonly plan: Plan

  constructor(plan: Plan) {
    this.plan = plan
    this.channelRests = plan.channels.map(() => 0)
    this.targets = plan.channels.flatMap(({ keys }, channel) =>
      keys.map((_, key) => ({ channel, key: keyName(channel, key), restEnd: 0 })),
    )
  }

  isPool({ channel }: ModelTarget): boolean {
    return this.plan.channels[channel]!.keys.length > 1
  }

  /** Returns the targets that rest at the time. A pool of which all keys rest does not differ from its keys. */
  rests(target: ModelTarget, now: number): boolean {
    return target.restEnd > now || this.channelRests[target.channel]! > now
  }

  /** Returns the targets of which any may be tried next, best first. */
  next(open: readonly ModelTarget[], now: number, last: ModelTarget | undefined): readonly ModelTarget[] {
    const awake = open.filter(one => !this.rests(one, now))
    if (awake.length === 0) return open
    // The keys of a pool follow each other.
    const same = awake.filter(({ channel }) => channel === last?.channel)
    if (same.length > 0) return same
    const best = Math.min(...awake.map(({ channel }) => this.plan.channels[channel]!.priority))
    return awake.filter(({ channel }) => this.plan.channels[channel]!.priority === best)
  }

  failed(target: ModelTarget, meaning: Meaning, now: number): void {
    const seconds = this.isPool(target) && meaning.keyRest !== undefined ? meaning.keyRest : meaning.rest
    if (seconds === 0) return
    const end = now + seconds * 1000
    if (this.isPool(target) && meaning.keyRest === undefined)
      this.channelRests[target.channel] = Math.max(this.channelRests[target.channel]!, end)
    else target.restEnd = Math.max(target.restEnd, end)
  }

  succeeded(target: ModelTarget): void {
    target.restEnd = 0
    this.channelRests[target.channel] = 0
  }
}

const keyName = (channel: number, key: number): string => `upstream-key-${channel}-${key}-aaaaaaaa`

/** Runs a plan at a gateway and compares each of its steps with the model. */
async function check(plan: Plan): Promise<void> {
  const tried: { readonly key: string; readonly kind: Kind }[] = []
  const left = new Map(
    plan.channels.flatMap(({ keys }, channel) => keys.map((all, key) => [keyName(channel, key), [...all]])),
  )
  const upstream = await FakeUpstream.open((response, seen) => {
    const key = keyIn(seen)
    const kind = left.get(key)!.shift() ?? 'ok'
    tried.push({ key, kind })
    KINDS[kind].script(response, seen)
  })
  const channels = plan.channels.map(({ priority, keys }, channel) => {
    const names = keys.map((_, key) => keyName(channel, key))
    const config = poolAt(upstream.address, names.length > 1 ? names : [...names, 'another-key-of-the-pool'], {
      name: `c${channel}`,
      more: `, priority: ${priority}`,
    })
    if (names.length > 1) return config
    const { keys: _, ...single } = config
    return single
  })
  const gateway = await TestServer.open(channels)
  const model = new Model(plan)
  let now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now)
  try {
    for (const pause of plan.pauses) {
      now += pause * 1000
      tried.length = 0
      const { status } = await gateway.ask(CHAT_PATH, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
      let open = model.targets
      let last: ModelTarget | undefined
      const atStart = new Map(open.map(one => [one, model.rests(one, now)]))
      for (const { key, kind } of tried) {
        const target = open.find(one => one.key === key)
        expect(target, `${key} is tried twice`).toBeDefined()
        const frozen = { rests: (one: ModelTarget) => atStart.get(one)! }
        const possible = Model.prototype.next.call(Object.assign(Object.create(model), frozen), open, now, last)
        expect(
          possible.map(one => one.key),
          JSON.stringify(tried),
        ).toContain(key)
        const meaning: Meaning = KINDS[kind]
        open = open.filter(
          one =>
            one !== target &&
            !(
              model.isPool(target!) &&
              kind !== 'ok' &&
              meaning.keyRest === undefined &&
              one.channel === target!.channel
            ),
        )
        last = target
        if (kind === 'ok') model.succeeded(target!)
        else model.failed(target!, meaning, now)
      }
      const end = tried.at(-1)!
      const isOver = end.kind === 'ok' || (KINDS[end.kind] as Meaning).isFinal === true
      if (isOver) expect(status).toBe(KINDS[end.kind].status)
      else {
        // Nothing that does not rest is left.
        expect(
          open.filter(one => !atStart.get(one)!),
          JSON.stringify(tried),
        ).toEqual([])
        expect(tried.map(({ kind }) => KINDS[kind].status)).toContain(status)
      }
      for (const { kind } of tried.slice(0, -1)) {
        expect(kind).not.toBe('ok')
        expect((KINDS[kind] as Meaning).isFinal).toBeUndefined()
      }
    }
  } finally {
    clock.mockRestore()
    await gateway.server.close(0)
    await upstream.close()
  }
}

test('whatever upstreams answer, requests try targets in order and each once, and failures rest what they concern', {
  timeout: 600_000,
}, async () => {
  await fc.assert(fc.asyncProperty(plans, check), { numRuns: RUNS === USUAL_RUNS ? 80 : RUNS })
})
