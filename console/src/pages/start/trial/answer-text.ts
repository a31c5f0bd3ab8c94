import type { Format } from '../clients/client.ts'

/** Text and reasoning in one event or one whole response. */
export interface Said {
  readonly text?: string
  /** Reasoning text. */
  readonly thought?: string
  readonly error?: string
}

// Upstreams may send any value in any field.
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape.
type Loose = any

const NOTHING: Said = {}

/** Reads text, reasoning and errors from the JSON of an event or a whole response. */
export function saidIn(format: Format, data: string): Said {
  const value = parsed(data)
  if (value === undefined) return NOTHING
  const error = value?.error ?? value?.response?.error
  if (error) return { error: String(error.message ?? JSON.stringify(error)) }
  return READERS[format](value) ?? NOTHING
}

const READERS: { readonly [F in Format]: (value: Loose) => Said | undefined } = {
  chat: value => {
    const said = value?.choices?.[0]?.delta ?? value?.choices?.[0]?.message
    return { ...textOf('text', said?.content), ...textOf('thought', said?.reasoning_content ?? said?.reasoning) }
  },
  responses: value => {
    if (value?.type === 'response.output_text.delta') return textOf('text', value.delta)
    if (value?.type === 'response.reasoning_summary_text.delta') return textOf('thought', value.delta)
    if (value?.object !== 'response') return undefined
    const parts = list(value.output).flatMap(item => list(item?.content))
    return { text: joined(parts.map(part => part?.text)) }
  },
  messages: value => {
    if (value?.type === 'content_block_delta')
      return { ...textOf('text', value.delta?.text), ...textOf('thought', value.delta?.thinking) }
    return value?.type === 'message' ? { text: joined(list(value.content).map(block => block?.text)) } : undefined
  },
  contents: value => {
    const parts = list(value?.candidates?.[0]?.content?.parts)
    return {
      text: joined(parts.filter(part => part?.thought !== true).map(part => part?.text)),
      thought: joined(parts.filter(part => part?.thought === true).map(part => part?.text)),
    }
  },
}

const list = (value: Loose): readonly Loose[] => (Array.isArray(value) ? value : [])
const joined = (texts: readonly unknown[]): string => texts.filter(one => typeof one === 'string').join('')
const textOf = (name: 'text' | 'thought', value: unknown): Said => (typeof value === 'string' ? { [name]: value } : {})

function parsed(data: string): Loose {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
