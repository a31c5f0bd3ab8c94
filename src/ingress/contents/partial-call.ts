import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyObjects, anyText, put } from '../fields.ts'

type Tree = { [key: string]: Json } | Json[]

/** Assembles the arguments of a call from chunks with JSON paths. Only Vertex sends such chunks. */
export class PartialArguments {
  private readonly root: { [key: string]: Json } = {}

  /** Adds the chunks of one event: `{ jsonPath: "$.a.b[0]", stringValue: "…", willContinue: true }`. */
  add(chunks: Json | undefined): void {
    for (const chunk of anyObjects(chunks)) {
      const steps = stepsOf(anyText(chunk['jsonPath'] ?? chunk['json_path']) ?? '')
      const value = chunkValue(chunk)
      if (steps.length > 0 && value !== undefined) this.set(steps, value)
    }
  }

  /** Adds arguments that arrived in one piece. */
  merge(args: JsonObject): void {
    for (const key in args) put(this.root, key, args[key])
  }

  /** Returns the arguments as JSON text. */
  text(): string {
    return JSON.stringify(this.root)
  }

  private set(steps: readonly (string | number)[], value: Json): void {
    let at: Tree = this.root
    for (const [index, step] of steps.slice(0, -1).entries()) {
      const next = get(at, step)
      if (isObject(next) || Array.isArray(next)) at = next as Tree
      else {
        const child: Tree = typeof steps[index + 1] === 'number' ? [] : {}
        put(at, String(step), child)
        at = child
      }
    }
    const last = steps.at(-1)!
    const before = get(at, last)
    put(at, String(last), typeof before === 'string' && typeof value === 'string' ? before + value : value)
  }
}

const get = (tree: Tree, step: string | number): Json | undefined =>
  Object.hasOwn(tree, step) ? (tree as { [key: string]: Json })[String(step)] : undefined

function chunkValue(chunk: JsonObject): Json | undefined {
  for (const key in chunk) if (VALUES.has(key)) return key.startsWith('null') ? null : chunk[key]!
  return undefined
}

const VALUES = new Set([
  ...['stringValue', 'numberValue', 'boolValue', 'nullValue'],
  ...['string_value', 'number_value', 'bool_value', 'null_value'],
])

/** Maximum length of a list, in items. A larger index is treated as a name. */
const MAX_ITEMS = 10_000

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\[(['"])/g

/** Splits a path such as `$.a['b c'][0]` into names and indexes. */
function stepsOf(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = []
  const unclosed = new Set<string>()
  const step = new RegExp(STEP)
  for (let found = step.exec(path); found !== null; found = step.exec(path)) {
    const [, name, index, quote] = found
    if (name !== undefined) steps.push(name)
    else if (index !== undefined) steps.push(Number(index) < MAX_ITEMS ? Number(index) : index)
    else if (!unclosed.has(quote!)) {
      const end = path.indexOf(`${quote}]`, step.lastIndex)
      // A quote that is unclosed here is never closed. Searching again for each such quote would take quadratic time.
      if (end === -1) unclosed.add(quote!)
      else {
        steps.push(path.slice(step.lastIndex, end))
        step.lastIndex = end + 2
      }
    }
  }
  return steps
}
