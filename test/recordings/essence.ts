import type { Part } from '../../src/canonical/content.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'

/** Content that must survive every translation of an answer. */
export interface Essence {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[]
  readonly finish: string | undefined
  readonly input: number | undefined
  readonly output: number | undefined
  readonly error: string | undefined
}

export function essence(result: CanonicalResult): Essence {
  const content = result.candidates[0]?.content ?? []
  const joined = (type: Part['type']) =>
    content.map(part => (part.type === type && 'text' in part ? part.text : '')).join('')
  return {
    text: joined('text'),
    reasoning: joined('reasoning').replace(/\s+/g, ' ').trim(),
    calls: content.flatMap(part =>
      part.type === 'tool-call' ? [{ name: part.name, arguments: parsed(part.arguments) }] : [],
    ),
    finish: result.candidates[0]?.finish?.reason,
    input: result.usage?.input,
    output: result.usage?.output,
    error: result.error?.kind,
  }
}

/** Returns the content that the answer itself states. No other format may state otherwise. */
export function claims(result: CanonicalResult): Partial<Essence> {
  const said = Object.entries(essence(result)).filter(([, value]) => value !== undefined)
  return Object.fromEntries(said.filter(([field, value]) => !(field === 'finish' && value === 'other')))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return text
  }
}
