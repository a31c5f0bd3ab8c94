import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { SumsByKey } from '../accounts/sums-by-key.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Json, JsonObject } from '../canonical/node.ts'
import { type Reply, whenSent } from './call.ts'

/** Size above which a body is counted, in bytes, and memory above which stored items are. */
const MIN_COUNTED = 64 * 1024
/** Share of the heap that counted requests may use. The rest is for answers, small requests and garbage. */
const HEAP_SHARE = 0.6
/** Share of the machine's memory that the counted requests of all its workers may use. */
const MACHINE_SHARE = 0.5

/** Memory per byte of a body, for its text as it arrived and as it is sent. */
const PER_BYTE = 2
/**
 * Memory per object, list and field, in bytes. Measured with messages of one character, which are the largest for their
 * text: 31 MB of them take 750 MB while they are translated.
 */
const PER_VALUE = 200
/** Memory per further value, as in a list of numbers, in bytes. */
const PER_NUMBER = 16
/** Memory per sign of JSON's structure, in bytes. */
const PER_SIGN: ReadonlyMap<string, number> = new Map([
  ['{', PER_VALUE],
  ['[', PER_VALUE],
  [':', PER_VALUE],
  [',', PER_NUMBER],
])

/** Content of a request in memory: its body, the stored items that it continues, or the text of its answer. */
type Content = Buffer | string | readonly JsonObject[]

/** Counts the memory of content for the request that has it. Throws like `RequestMemory.open`. */
export type Weigh = (content: Content) => void

/** Memory of one request. Released once. */
export interface RequestMemoryHold {
  /** Memory of the request, in bytes. */
  readonly bytes: number
  release(): void
}

/**
 * Limits the memory of running requests with large bodies or long stored histories, as estimated from their texts. A
 * request is in memory until its answer ends, which may take minutes, and many small objects take twenty times as much
 * memory as their text.
 */
export class RequestMemory {
  private readonly limit: number
  private readonly counts = new SumsByKey()

  /** @param limit maximum memory of all requests, in bytes. */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Memory of the requests that run now, as estimated, in bytes. */
  get bytes(): number {
    return this.counts.total
  }

  /**
   * Counts the content of a request until it is released. A key may use as much as it leaves for all others. Returns
   * `held` for small content, which is not counted.
   *
   * @param held memory of the same request that is already counted. The returned memory includes and replaces it.
   * @throws GatewayError `overloaded` if the running requests leave too little memory, `too-large` if the request needs
   * more than all of it. `held` stays counted.
   */
  open(key: string, content: Content, held?: RequestMemoryHold | undefined): RequestMemoryHold | undefined {
    const bytes = memoryOf(content)
    if (bytes < MIN_COUNTED) return held
    if (bytes + (held?.bytes ?? 0) > this.limit) throw TOO_LARGE
    if (this.counts.total + this.counts.of(key) + bytes > this.limit) throw OVERLOADED
    this.counts.add(key, bytes)
    return this.hold(key, bytes + (held?.bytes ?? 0))
  }

  private hold(key: string, bytes: number): RequestMemoryHold {
    let isReleased = false
    return {
      bytes,
      release: () => {
        if (!isReleased) this.counts.add(key, -bytes)
        isReleased = true
      },
    }
  }
}

/** Releases memory when a caller has read its answer, which takes memory, too, until the slowest reader has it. */
export function releaseWhenSent(memory: RequestMemoryHold | undefined, reply: Reply): void {
  if (memory !== undefined) whenSent(reply, memory.release)
}

/**
 * Returns the memory that the requests of one process may use, in bytes.
 *
 * @param workers number of processes that share the machine.
 */
export function requestMemoryLimit(workers: number): number {
  const machine = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.floor(Math.min(getHeapStatistics().heap_size_limit * HEAP_SHARE, (machine * MACHINE_SHARE) / workers))
}

const TOO_LARGE = new GatewayError({
  kind: 'too-large',
  message: 'The request has too many parts for the memory of the gateway.',
})

const OVERLOADED = new GatewayError({
  kind: 'overloaded',
  message: 'Running requests take too much memory. Try again later.',
  retryAfterSeconds: 1,
})

function memoryOf(content: Content): number {
  if (typeof content === 'string') return PER_BYTE * content.length
  return Buffer.isBuffer(content) ? memoryOfBody(content) : memoryOfItems(content)
}

const memoryOfBody = (body: Buffer): number => (body.length < MIN_COUNTED ? 0 : estimatedMemory(body))

/**
 * Returns the memory of stored items. Unlike a body, they are parsed before they are counted, as the store limits their
 * size.
 */
const memoryOfItems = (items: readonly JsonObject[]): number =>
  items.reduce((sum, item) => sum + memoryOfValue(item), 0)

function memoryOfValue(value: Json): number {
  if (typeof value === 'string') return PER_VALUE + PER_BYTE * value.length
  if (typeof value !== 'object' || value === null) return PER_NUMBER
  const values: readonly Json[] = Array.isArray(value) ? value : Object.values(value)
  return values.reduce<number>((sum, one) => sum + memoryOfValue(one), PER_VALUE)
}

/** Number of samples of a body, and their length in bytes. */
const SAMPLES = 32
const SAMPLE_LENGTH = 512

/**
 * Estimates the memory of a request from samples at random places of its body, so that the cost does not depend on its
 * size.
 */
export function estimatedMemory(body: Buffer): number {
  const part = Math.floor(body.length / SAMPLES)
  let sampled = 0
  for (let index = 0; index < SAMPLES; index++) {
    const start = Math.floor((index + Math.random()) * part)
    sampled += structureIn(body, start, Math.min(start + SAMPLE_LENGTH, body.length))
  }
  return Math.ceil(body.length * (PER_BYTE + sampled / (SAMPLES * SAMPLE_LENGTH)))
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
/** Signs of JSON's structure. */
const SIGNS: ReadonlySet<number> = new Set(Buffer.from(',:[]{}'))
/** Memory per sign, by its byte. */
const SIGN_COSTS = new Uint8Array(256)
for (const [sign, cost] of PER_SIGN) SIGN_COSTS[sign.charCodeAt(0)] = cost
/** Characters that occur outside strings: structure, blanks, numbers, `true`, `false` and `null`. */
const OUTSIDE: ReadonlySet<number> = new Set(Buffer.from(',:[]{} \t\r\n0123456789+-.eEtrufalsn'))

/** Adds up the memory of the signs of JSON's structure in a piece of a text. Those in strings do not count. */
function structureIn(body: Buffer, start: number, end: number): number {
  let isString = beginsInString(body, start, end)
  let cost = 0
  for (let at = start; at < end; at++) {
    const byte = body[at]!
    if (isString && byte === BACKSLASH) at++
    else if (byte === QUOTE) isString = !isString
    else if (!isString) cost += SIGN_COSTS[byte]!
  }
  return cost
}

/** Returns true if a piece of a text begins within a string, as the surroundings of its first quote show. */
function beginsInString(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = body[at]!
    if (byte === BACKSLASH) return true
    if (byte === QUOTE) return !SIGNS.has(body[at - 1] ?? 0) && SIGNS.has(body[at + 1] ?? 0)
    if (!OUTSIDE.has(byte)) return true
  }
  return false
}
