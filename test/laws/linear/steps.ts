import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vitest/node'

/*
 * Counts work instead of timing it: the runs of each function's busiest block (by the engine's precise coverage), the
 * items that built-in loops visited (their methods are wrapped), and the items of spreads. `Steps` must be created
 * before the modules that it counts are loaded.
 */

/** Counts by the function that did the steps: `function src/file.ts:offset`, `Array.prototype.includes`. */
export type Counts = ReadonlyMap<string, number>

interface Range {
  readonly startOffset: number
  readonly count: number
}

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly functionName: string; readonly ranges: readonly Range[] }[]
  }[]
}

export class Steps {
  private readonly session = new Session()
  private readonly isCounted: (url: string) => boolean
  private inBuiltIns = new Map<string, number>()

  /** @param isCounted whether the functions of a module are counted, by its URL. */
  constructor(isCounted: (url: string) => boolean) {
    this.isCounted = isCounted
    this.session.connect()
    this.session.post('Profiler.enable')
    this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    const count: Count = (what, steps) => this.inBuiltIns.set(what, (this.inBuiltIns.get(what) ?? 0) + steps)
    wrapBuiltIns(count)
    countSpreads(count, isCounted)
  }

  /** Returns the steps of built-in loops and spreads since the last call. */
  builtIn(): Counts {
    const counts = this.inBuiltIns
    this.inBuiltIns = new Map()
    return counts
  }

  /** Returns how often each function ran its busiest block since the last call. */
  blocks(): Counts {
    const counts = new Map<string, number>()
    for (const { url, functions } of this.coverage().result) {
      if (!this.isCounted(url)) continue
      for (const { functionName, ranges } of functions) {
        const most = ranges.reduce((most, { count }) => Math.max(most, count), 0)
        if (most > 0) counts.set(`${functionName || 'function'} ${url}:${ranges[0]!.startOffset}`, most)
      }
    }
    return counts
  }

  private coverage(): Coverage {
    let coverage: Coverage = { result: [] }
    this.session.post('Profiler.takePreciseCoverage', (error: Error | null, taken: unknown) => {
      if (error !== null) throw new Error('The engine counts nothing.', { cause: error })
      coverage = taken as Coverage
    })
    return coverage
  }
}

type Count = (what: string, steps: number) => void

// biome-ignore lint/suspicious/noExplicitAny: built-in methods take whatever they take
type Method = (this: any, ...given: any[]) => any

/** Returns the steps of a call of a built-in method, from its receiver, arguments and result. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Cost = (self: any, given: readonly any[], result: any) => number

type Costs = { readonly [method: string]: Cost }

const all: Cost = self => self.length
const made: Cost = (_, __, result) => result?.length ?? 0
const fields: Cost = (_, [value]) => (typeof value === 'object' && value !== null ? Object.keys(value).length : 0)
const bytes: Cost = (_, __, result) => (result?.length ?? 0) >> 6
const untilFound: Cost = (self, [, from], at) => (at === -1 ? self.length : at + 1) - Number(from ?? 0)

const LISTS: Costs = {
  includes: (self, [wanted], found) => (found ? self.indexOf(wanted) + 1 : self.length),
  indexOf: untilFound,
  lastIndexOf: (self, _, at) => self.length - Math.max(at, 0),
  splice: (self, [start = 0], gone) => self.length + (gone?.length ?? 0) - Number(start),
  ...{ slice: made, concat: made, flat: made, with: made, toSpliced: made, toSorted: made, toReversed: made },
  ...{ unshift: all, reverse: all, sort: all, join: all, fill: all, keys: all, entries: all },
}

const TEXTS: Costs = {
  includes: (self, [wanted, from = 0], found) => (found ? self.indexOf(wanted, from) : self.length) - from,
  indexOf: untilFound,
  repeat: made,
  ...{ lastIndexOf: all, split: all, replace: all, replaceAll: all, match: all, search: all, trim: all },
  ...{ trimEnd: all, trimStart: all, toLowerCase: all, toUpperCase: all, toWellFormed: all, normalize: all },
}

const REGEXES: Costs = { test: (_, [text]) => String(text).length }
const OBJECTS: Costs = { keys: fields, values: fields, entries: fields, assign: (_, [, from]) => fields(_, [from], _) }
const TEXT_OF_JSON: Costs = { parse: (_, [text]) => String(text).length, stringify: (_, __, text) => text?.length ?? 0 }
/** Bytes are copied many at a time. */
const BYTES: Costs = { from: bytes, concat: bytes }

function wrapBuiltIns(count: Count): void {
  let isCounting = false
  const wrap = (owner: object, name: string, costs: Costs): void => {
    for (const [method, cost] of Object.entries(costs)) {
      const original = Reflect.get(owner, method) as Method
      const value: Method = function (...given) {
        let result: unknown
        try {
          return (result = original.apply(this, given))
        } finally {
          // A call that throws has taken its steps, too.
          if (!isCounting) {
            isCounting = true
            count(`${name}.${method}`, Math.max(cost(this, given, result), 0))
            isCounting = false
          }
        }
      }
      Object.defineProperty(owner, method, { value, writable: true, configurable: true })
    }
  }
  wrap(Array.prototype, 'Array.prototype', LISTS)
  wrap(String.prototype, 'String.prototype', TEXTS)
  wrap(RegExp.prototype, 'RegExp.prototype', REGEXES)
  wrap(Object, 'Object', OBJECTS)
  wrap(JSON, 'JSON', TEXT_OF_JSON)
  wrap(Buffer, 'Buffer', BYTES)
  wrap(Buffer.prototype, 'Buffer.prototype', { toString: bytes })
}

/** Counts spreads, loops and destructuring of lists by their iterator. Those of objects are marked in the source. */
function countSpreads(count: Count, isCounted: (url: string) => boolean): void {
  const value = function* (this: readonly unknown[]) {
    for (let index = 0; index < this.length; index++) {
      count('a list stepped through', 1)
      yield this[index]
    }
  }
  Object.defineProperty(Array.prototype, Symbol.iterator, { value, writable: true, configurable: true })
  const spread = (value: unknown): unknown => {
    for (const _ in value as object) count('an object spread', 1)
    return value
  }
  Object.defineProperty(globalThis, SPREAD, { value: spread })
  registerHooks({
    load(url, context, next) {
      if (!url.endsWith('.ts') || !isCounted(url)) return next(url, context)
      return {
        format: 'module-typescript',
        source: marked(readFileSync(fileURLToPath(url), 'utf8')),
        shortCircuit: true,
      }
    },
  })
}

const SPREAD = 'spreadOfAnObject'

/** Returns the source with a report for every spread in an object, on unchanged lines. */
function marked(source: string): string {
  const places: { readonly start: number; readonly end: number }[] = []
  collect(parseAst(source, { lang: 'ts' }), places)
  const cuts = places.flatMap(({ start, end }) => [[start, `${SPREAD}(`] as const, [end, ')'] as const])
  let text = ''
  let from = 0
  for (const [at, insert] of cuts.sort(([a, x], [b, y]) => a - b || x.length - y.length)) {
    text += source.slice(from, at) + insert
    from = at
  }
  return text + source.slice(from)
}

/** A node of the source's syntax tree, as far as it matters here. */
interface Node {
  readonly type?: string
  readonly properties?: readonly { readonly type: string; readonly argument: { start: number; end: number } }[]
}

function collect(node: unknown, places: { start: number; end: number }[]): void {
  if (typeof node !== 'object' || node === null) return
  const { type, properties = [] } = node as Node
  if (type === 'ObjectExpression')
    for (const { type, argument } of properties) if (type === 'SpreadElement') places.push(argument)
  for (const child of Object.values(node)) collect(child, places)
}
