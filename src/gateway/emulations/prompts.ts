import { GatewayError } from '../../canonical/error.ts'
import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate } from '../../canonical/result.ts'
import { GONE } from '../failures.ts'
import type { Answered, Emulation } from '../types.ts'
import { combined } from './combined.ts'
import { unreadable } from './unreadable.ts'

/** As many answers one request may ask for that each take a request of their own. */
const MOST = 128

/**
 * Several texts to go on from, by an upstream that has one conversation at a time (FORMATS §3): it is asked for one
 * after the other. A choice's index tells its prompt, so each prompt gets as many choices as were asked for, also of
 * an upstream that gives one at a time.
 */
export const prompts: Emulation = {
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
    const candidates = answers.flatMap(one => one.candidates)
    return { result: combined(answers, candidates), losses: lossesOf(answers), headers: answers[0]!.headers }
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

/** Losses of each prompt at its place among all; what is lost of the settings is lost alike with each. */
function lossesOf(answers: readonly Placed[]): readonly Loss[] {
  const told = new Set<number>()
  return answers.flatMap(({ losses, index }) => {
    if (told.has(index)) return []
    told.add(index)
    return losses.flatMap(loss => shifted(loss, index) ?? (index > 0 || isOfChoices(loss) ? [] : loss))
  })
}

/** How many choices an upstream gives at a time is no loss: it is asked again. */
const isOfChoices = ({ path }: Loss): boolean => path[0] === 'output' && path[1] === 'candidates'
