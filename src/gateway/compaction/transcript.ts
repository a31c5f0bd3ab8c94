import type { OpaquePart, Part } from '../../canonical/content.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'

/**
 * A conversation as the content of one turn: texts, calls and their results as text, and media as they are. So any
 * model can read it, without the tools it used, and takes no turn of it for its own.
 */
export function transcript({ messages }: CanonicalRequest): readonly Part[] {
  const out: Part[] = []
  let text = '<transcript>'
  for (const message of messages)
    for (const piece of piecesOf(message)) {
      if (typeof piece === 'string') text += `\n\n${piece}`
      else {
        out.push({ type: 'text', text }, piece)
        text = ''
      }
    }
  out.push({ type: 'text', text: `${text}\n\n</transcript>\n\nWrite the summary now.` })
  return out
}

/** The content of a message, each part behind the name of its role. */
const piecesOf = ({ role, name, content }: Message): readonly (string | Part)[] =>
  content.flatMap(part => inWords(part, name === undefined ? role : `${role} ${name}`))

function inWords(part: Part, who: string): readonly (string | Part)[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [`[${who}]\n${part.text}`]
    case 'tool-call':
      return [
        `[${who} calls ${part.namespace === undefined ? '' : `${part.namespace}.`}${part.name}, id ${part.id}]\n${part.arguments}`,
      ]
    case 'tool-result': {
      const head = `${part.failed === undefined ? 'result' : 'failure'} of ${part.id}`
      return part.content.flatMap(one => inWords(one, head))
    }
    case 'media': {
      const { cache: _, extras: __, spelling: ___, ...bare } = part
      return [`[${who} shows ${part.name ?? `this ${part.kind}`}]`, bare]
    }
    case 'opaque':
      return isPointless(part) ? [] : [`[${who}]\n${part.text ?? JSON.stringify(part.value)}`]
    default:
      return []
  }
}

/** The request for a summary is no part of the summary, and opaque parts have no text. */
const isPointless = ({ value, reference, redundant }: OpaquePart): boolean =>
  reference === true || redundant === true || value['type'] === 'compaction_trigger'
