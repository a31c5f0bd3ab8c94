import { GatewayError, invalid } from '../../canonical/error.ts'
import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate } from '../../canonical/result.ts'
import { GONE } from '../failures.ts'
import type { Emulation, WholeAnswer } from '../types.ts'
import { combined, lossesOfReferences } from './several.ts'

/** Maximum number of choices per request, over all prompts, if every prompt needs a separate request. */
const MOST = 128

/**
 * Sends several prompts one after another to an upstream that accepts one conversation per request
 * (docs/wire/completions.md#prompts). Clients derive a choice's prompt from the index of the choice. Each prompt
 * therefore gets exactly the requested number of choices, even from an upstream that returns one at a time.
 */
export const prompts: Emulation = {
  losses: request => {
    if (request.messages.length * choicesOf(request) > MOST) throw TOO_MANY
    return lossesOfReferences(request)
  },
  answer: async (attempt, roundTrip) => {
    const { request } = attempt
    const { call } = attempt.incoming
    const answers: WholeAnswer[] = []
    const candidates: (readonly Candidate[])[] = []
    const losses: (readonly Loss[])[] = []
    for (const [index, message] of request.messages.entries())
      for (let missing = choicesOf(request); missing > 0; ) {
        if (call.reply.gone) throw GONE
        const output = withChoices(request, missing)
        const answered = await roundTrip(attempt, { ...request, messages: [message], output })
        const choices = answered.result.candidates.slice(0, missing)
        if (choices.length === 0) throw NO_ANSWER
        missing -= choices.length
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

const TOO_MANY = invalid(`This model returns at most ${MOST} choices per request, counted over all prompts.`, 'prompt')
const NO_ANSWER = new GatewayError({
  kind: 'upstream-failed',
  message: 'The upstream returned no choice for a prompt.',
})

/**
 * Returns the losses of a prompt at its index, and the losses of settings only for the first prompt, because they are
 * the same for every prompt.
 */
const lossesOf = ({ losses }: WholeAnswer, index: number): readonly Loss[] =>
  losses.flatMap(loss => shifted(loss, index) ?? (index > 0 || isOfChoices(loss) ? [] : loss))

/** Returns true if a loss concerns only the number of choices. Further requests make up for it. */
const isOfChoices = ({ path }: Loss): boolean => path[0] === 'output' && path[1] === 'candidates'
