import { inspect } from 'node:util'
import type { Json } from '../../src/canonical/node.ts'
import { Dice } from './dice.ts'
import { Broken, type Target, type Watch } from './target.ts'

/* What must hold for every input of every target. */

/** CPU time that an input of up to 100 kB may take, in milliseconds. Larger inputs get proportionally more. */
const TIME = 100
const TIME_SIZE = 100_000
/** Runs of a slow input, of which the fastest counts. Busy machines and compilations are no finding. */
const REPEATS = 3

/** Largest output and retained state: this many times the input, and a constant. */
const GROWTH = 64
const GROWTH_BASE = 20_000

/** Maximum length of an error text, in characters. */
const MAX_SAID = 40_000

/** Texts that no error may contain: a key, and the address of an upstream. Inputs have them where real ones do. */
export const SECRETS = { key: 'sk-fuzz-7Qm2Zr9TtXw4LbN8', host: 'llm.upstream.example' } as const

/** Runs an input of a target. Returns the law that it breaks. */
export async function broken(target: Target, input: Json, size: number): Promise<Broken | undefined> {
  const fault = await brokenByRun(target, input, size)
  return pollution() ?? fault
}

async function brokenByRun(target: Target, input: Json, size: number): Promise<Broken | undefined> {
  const watch = new Watching(size)
  try {
    const limit = (target.time ?? TIME) * Math.max(1, size / TIME_SIZE)
    let time = await watch.time(() => target.run(input, watch))
    for (let repeat = 1; repeat < REPEATS && time > limit; repeat++) {
      const again = new Watching(size)
      time = Math.min(time, await again.time(() => target.run(input, again)))
    }
    if (time > limit) throw new Broken('time', `took ${time.toFixed()} ms for ${size} characters`)
    return undefined
  } catch (thrown) {
    if (thrown instanceof Broken) return thrown
    return isOverflowOfTest(thrown) ? undefined : new Broken('exception', inspect(thrown))
  }
}

/** Whether a check ran out of stack, not the reader: comparing values is recursive, and inputs may be nested deeply. */
function isOverflowOfTest(thrown: unknown): boolean {
  if (!(thrown instanceof RangeError) || !/call stack/.test(thrown.message)) return false
  const [top = ''] = /file:.*/.exec(thrown.stack ?? '') ?? []
  return top.includes('/test/')
}

class Watching implements Watch {
  readonly dice: Dice
  private readonly size: number
  private unmeasuredTime = 0

  constructor(size: number) {
    this.size = size
    this.dice = new Dice(size)
  }

  /** Returns the CPU time of the work, in milliseconds. */
  async time(work: () => void | Promise<void>): Promise<number> {
    const start = cpuTime()
    await work()
    return cpuTime() - start - this.unmeasuredTime
  }

  unmeasured<T>(work: () => T): T {
    const start = cpuTime()
    try {
      return work()
    } finally {
      this.unmeasuredTime += cpuTime() - start
    }
  }

  quoted(text: string): void {
    if (text.length > MAX_SAID) throw new Broken('error text', `is ${text.length} characters long`)
  }

  said(text: string): void {
    this.quoted(text)
    for (const [kind, secret] of Object.entries(SECRETS))
      if (text.includes(secret)) throw new Broken('secret', `the ${kind} is in an error: ${text.slice(0, 500)}`)
  }

  returned(value: unknown): void {
    this.unmeasured(() => this.measure('growth of the output', value))
  }

  retained(state: unknown): void {
    this.unmeasured(() => this.measure('growth of the state', state))
  }

  private measure(law: string, value: unknown): void {
    const limit = GROWTH * this.size + GROWTH_BASE
    const size = sizeOf(value, limit)
    if (size > limit) throw new Broken(law, `is over ${limit} for ${this.size} characters`)
  }
}

const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Size of an object or a list itself, in characters. */
const NODE = 8

/**
 * Returns the size of everything that a value refers to, up to a limit: characters, bytes, fields and items. Shared
 * values count once.
 *
 * @throws Broken if an object has a prototype that an input made.
 */
function sizeOf(root: unknown, limit: number): number {
  const seen = new Set<unknown>()
  const open: unknown[] = [root]
  let size = 0
  while (open.length > 0 && size <= limit) {
    const value = open.pop()
    if (typeof value === 'string') size += value.length
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    size += NODE
    if (ArrayBuffer.isView(value)) size += value.byteLength
    else if (value instanceof Map) for (const entry of value) open.push(entry[0], entry[1])
    else if (value instanceof Set) for (const item of value) open.push(item)
    else {
      checkPrototypeOf(value)
      if (Array.isArray(value)) size += value.length
      for (const name of Object.keys(value)) {
        if (!Array.isArray(value)) size += name.length
        open.push((value as { readonly [name: string]: unknown })[name])
      }
    }
  }
  return size
}

/** A prototype has a constructor. Everything else is a value that an input put there. */
function checkPrototypeOf(value: object): void {
  const prototype = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype || Array.isArray(value)) return
  if (typeof Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value !== 'function')
    throw new Broken('prototype', `an object has the prototype ${inspect(prototype)}`)
}

const BUILT_IN = [Object, Array, String, Number, Boolean, Function, Map, Set, RegExp, Error].map(one => one.prototype)
const NAMES: readonly ReadonlySet<string | symbol>[] = BUILT_IN.map(one => new Set(Reflect.ownKeys(one)))

/** Returns the fault if a built-in prototype has another field than before, and removes the field. */
function pollution(): Broken | undefined {
  for (const [index, prototype] of BUILT_IN.entries()) {
    const names = Reflect.ownKeys(prototype)
    if (names.length === NAMES[index]!.size) continue
    const added = names.filter(name => !NAMES[index]!.has(name))
    for (const name of added) Reflect.deleteProperty(prototype, name)
    return new Broken('prototype', `${prototype.constructor.name}.prototype has ${added.map(String).join(', ')}`)
  }
  return undefined
}
