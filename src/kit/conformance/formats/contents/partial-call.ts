import { type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'

/* Calls whose arguments are streamed in `partialArgs`. Source: docs/wire/contents.md#parts */

type Fields = { [field: string]: Json }

/** Splits a path such as `$.a.b[0]` or `$['a'][0]` into names and indexes. */
const stepsOf = (path: string): (string | number)[] =>
  [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g)].map(([, name, index, quoted]) =>
    index === undefined ? (name ?? quoted ?? '') : Number(index),
  )

const pieceValue = (piece: JsonObject): Json =>
  piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'] ?? null

/** Sets the value at a path. Strings are appended to an existing string. */
function setValue(root: Fields, steps: readonly (string | number)[], value: Json): void {
  let node = root as { [step: string | number]: Json }
  for (const [position, step] of steps.slice(0, -1).entries()) {
    node[step] ??= typeof steps[position + 1] === 'number' ? [] : {}
    node = node[step] as unknown as typeof node
  }
  const last = steps.at(-1)
  if (last === undefined) return
  const before = textOf(node[last])
  node[last] = before !== undefined && typeof value === 'string' ? before + value : value
}

/** One call in progress. Only the first chunk has the name. */
export class PartialCall {
  private readonly first: JsonObject
  private readonly args: Fields = {}

  constructor(first: JsonObject) {
    this.first = first
  }

  add(call: JsonObject): void {
    Object.assign(this.args, objectOf(call['args']))
    for (const piece of listOf(call['partialArgs']).map(objectOf))
      setValue(this.args, stepsOf(textOf(piece['jsonPath']) ?? ''), pieceValue(piece))
  }

  whole(): JsonObject {
    const { willContinue: _, partialArgs: __, ...call } = objectOf(this.first['functionCall'])
    return { ...this.first, functionCall: { ...call, args: this.args } }
  }
}
