import type { ReasoningPart } from '../../canonical/content.ts'
import { spelt } from '../fields.ts'
import type { HandBack } from '../writer.ts'
import { FORMAT } from './content.ts'
import { chatDialect } from './dialect.ts'

/**
 * Thoughts are returned in the field that the upstream's dialect declares, whichever model generated them, as they are
 * unsigned (traps 35, 36). Google's signature of a call is returned to Google, in the place of the caller's own (trap
 * 31).
 */
export function handsBack(thought: ReasoningPart, { dialect, native, own }: HandBack): ReasoningPart | undefined {
  const { text, signature, redacted } = thought
  if (text === '' && signature?.format === 'contents')
    return native && own ? { type: 'reasoning', text, signature } : undefined
  const field = chatDialect(dialect).reasoning_field ?? 'none'
  if (field === 'none' || redacted || (text === '' && !own)) return undefined
  if (!native) return { type: 'reasoning', text }
  return { type: 'reasoning', text, spelling: { [FORMAT]: field === 'parts' ? inParts(thought) : { field } } }
}

const inParts = (thought: ReasoningPart) => {
  const { as, value } = spelt(thought, FORMAT)
  return {
    as: 'thinking',
    value: as === 'thinking' ? value! : { type: 'thinking', thinking: [{ type: 'text', text: thought.text }] },
  }
}
