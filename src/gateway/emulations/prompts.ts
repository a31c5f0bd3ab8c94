import { GatewayError, invalid } from '../../canonical/error.ts'
import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate } from '../../canonical/result.ts'
import { GONE } from '../failures.ts'
import type { Emulation, WholeAnswer } from '../types.ts'
import { combined, unreadable } from './several.ts'

/** How many choices one request may ask for where each takes a separate request. */
const MOST = 128

/**
 * Several prompts for an upstream that takes one conversation in a request (docs/wire/completions.md#prompts): one
 * request after the other. A choice's index is derived from its prompt, so each prompt gets exactly as many choices as
 * were requested, also of an upstream that gives one choice in an answer.
 */
export const prompts: Emulation = {
  losses: request => {
    if (request.messages.length * choicesOf(request) > MOST) throw TOO_MANY
    return unreadable(request)
  },
  answer: async (attempt, roundTrip) => {
    const { request, call } = attempt
    const answers: WholeAnswer[] = []
    const candidates: (readonly Candidate[])[] = []
    const losses: (readonly Loss[])[] = []
    for (const [index, message] of request.messages.entries())
      for (let wanted = choicesOf(request); wanted > 0; ) {
        if (call.reply.gone) throw GONE
        const output = withChoices(request, wanted)
        const answered = await roundTrip(attempt, { ...request, messages: [message], output })
        const choices = answered.result.candidates.slice(0, wanted)
        if (choices.length === 0) throw NO_ANSWER
        wanted -= choices.length
        answers.push(answered)
        candidates.push(choices)
        losses[index] ??= lossesOf(answered, index)
      }
    return { result: combined(answers, candidates.flat()), losses: losses.flat(), headers: answers[0]!.headers }
  },
}

const choicesOf = ({ output }: CanonicalRequest): number => Math.max(1, Math.floor(output.candidates ?? 1))

const withChoices = ({ output }: CanonicalRequest, candidates: number): CanonicalRequest['output'] =>
  output.candidates === undefined ? output : { ...output, candidates }

const TOO_MANY = invalid(
  `At most ${MOST} choices, of all prompts together, may be asked for in one request to this model.`,
  'prompt',
)
const NO_ANSWER = new GatewayError({ kind: 'upstream-failed', message: 'The upstream gave no answer to a prompt.' })

/** The losses of a prompt at its place; losses of the settings are the same for all prompts. */
const lossesOf = ({ losses }: WholeAnswer, index: number): readonly Loss[] =>
  losses.flatMap(loss => shifted(loss, index) ?? (index > 0 || isOfChoices(loss) ? [] : loss))

/** The number of choices in one answer is no loss: further requests follow. */
const isOfChoices = ({ path }: Loss): boolean => path[0] === 'output' && path[1] === 'candidates'
