import { GatewayError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, Usage } from '../../canonical/result.ts'
import type { Answered } from '../told.ts'
import type { Way } from '../ways.ts'

/** As many answers one request may ask for that each take a request of their own. */
const MOST = 128

/**
 * Several texts to go on from, by an upstream that has one conversation at a time (FORMATS §3): it is asked for one
 * after the other. A choice's index tells its prompt, so each prompt gets as many choices as were asked for, also of
 * an upstream that gives one at a time.
 */
export const prompts: Way = {
  losses: request => {
    if (request.messages.length * choicesOf(request) > MOST) throw TOO_MANY
    return unreadable(request)
  },
  answer: async ({ request, call }, ask) => {
    const answers: Placed[] = []
    for (const [index, message] of request.messages.entries())
      for (let wanted = choicesOf(request); wanted > 0; ) {
        if (call.reply.gone) throw GONE
        const answered = await ask({ ...request, messages: [message], output: wanting(request, wanted) })
        const candidates = answered.result.candidates.slice(0, wanted)
        if (candidates.length === 0) throw NO_ANSWER
        wanted -= candidates.length
        answers.push({ ...answered, index, candidates })
      }
    const usages = answers.map(({ result }) => result.usage)
    const { usage: _, ...head } = answers[0]!.result
    return {
      result: {
        ...head,
        candidates: answers.flatMap(({ candidates }) => candidates),
        ...(usages.includes(undefined) ? {} : { usage: usages.reduce(sum)! }),
      },
      losses: lossesOf(answers),
      headers: answers[0]!.headers,
    }
  },
}

/** An answer to the prompt of that index. */
interface Placed extends Answered {
  readonly index: number
  readonly candidates: readonly Candidate[]
}

const choicesOf = ({ output }: CanonicalRequest): number => Math.max(1, Math.floor(output.candidates ?? 1))

const wanting = ({ output }: CanonicalRequest, candidates: number): CanonicalRequest['output'] =>
  output.candidates === undefined ? output : { ...output, candidates }

const TOO_MANY = new GatewayError({
  kind: 'invalid-request',
  message: `At most ${MOST} choices, of all prompts together, may be asked for in one request to this model.`,
  param: 'prompt',
})
const NO_ANSWER = new GatewayError({ kind: 'upstream-failed', message: 'The upstream gave no answer to a prompt.' })
const GONE = new GatewayError({ kind: 'cancelled', message: 'The caller went away.' })

/** Prompts only the model of another upstream can read: known before the first is sent. */
const unreadable = ({ messages }: CanonicalRequest): readonly Loss[] =>
  messages.flatMap(({ content }, message) =>
    content.flatMap((part, index): Loss[] =>
      part.type === 'opaque' && part.reference === true
        ? [{ kind: 'dropped', path: ['messages', message, 'content', index], reason: `only-${part.format}-knows` }]
        : [],
    ),
  )

/** Losses of each prompt at its place among all; what is lost of the settings is lost alike with each. */
function lossesOf(answers: readonly Placed[]): readonly Loss[] {
  const told = new Set<number>()
  return answers.flatMap(({ losses, index }) => {
    if (told.has(index)) return []
    told.add(index)
    return losses.flatMap((loss): Loss[] => {
      const [field, place, ...rest] = loss.path
      if (field === 'messages' && typeof place === 'number') return [{ ...loss, path: [field, place + index, ...rest] }]
      return index > 0 || (field === 'output' && place === 'candidates') ? [] : [loss]
    })
  })
}

const COUNTS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning', 'total'] as const

function sum(a: Usage | undefined, b: Usage | undefined): Usage {
  const counts = COUNTS.flatMap(field => {
    const [left, right] = [a?.[field], b?.[field]]
    return left === undefined && right === undefined ? [] : [[field, (left ?? 0) + (right ?? 0)] as const]
  })
  return Object.fromEntries(counts)
}
