import { GatewayError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import type { Answered } from '../told.ts'
import type { Way } from '../ways.ts'

/** As many prompts one request may have that each take a request of their own. */
const MOST = 128

/**
 * Several texts to go on from, by an upstream that has one conversation at a time (FORMATS §3): it is asked for one
 * after the other, and the answers stand in the order of the prompts.
 */
export const prompts: Way = {
  losses: request => {
    if (request.messages.length > MOST) throw TOO_MANY
    return unreadable(request)
  },
  answer: async ({ request, call }, ask) => {
    const answers: Answered[] = []
    for (const message of request.messages) {
      if (call.reply.gone) throw GONE
      answers.push(await ask({ ...request, messages: [message] }))
    }
    const usages = answers.map(({ result }) => result.usage)
    const { usage: _, ...head } = answers[0]!.result
    return {
      result: {
        ...head,
        candidates: answers.flatMap(({ result }) => result.candidates),
        ...(usages.includes(undefined) ? {} : { usage: usages.reduce(sum)! }),
      },
      losses: answers.flatMap(({ losses }, index) => losses.flatMap(loss => placed(loss, index))),
      headers: answers[0]!.headers,
    }
  },
}

const TOO_MANY = new GatewayError({
  kind: 'invalid-request',
  message: `At most ${MOST} prompts may stand in one request to this model.`,
  param: 'prompt',
})
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

/** A loss of a prompt at its place among all; what is lost of the settings is lost alike with each. */
function placed(loss: Loss, index: number): readonly Loss[] {
  const [field, place, ...rest] = loss.path
  if (field !== 'messages' || typeof place !== 'number') return index === 0 ? [loss] : []
  return [{ ...loss, path: [field, place + index, ...rest] }]
}

const COUNTS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning', 'total'] as const

function sum(a: Usage | undefined, b: Usage | undefined): Usage {
  const counts = COUNTS.flatMap(field => {
    const [left, right] = [a?.[field], b?.[field]]
    return left === undefined && right === undefined ? [] : [[field, (left ?? 0) + (right ?? 0)] as const]
  })
  return Object.fromEntries(counts)
}
