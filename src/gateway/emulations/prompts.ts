import { GatewayError, invalid } from '../../canonical/error.ts'
import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate } from '../../canonical/result.ts'
import { GONE } from '../failures.ts'
import type { Emulation, WholeAnswer } from '../types.ts'
import { combined, lossesOfReferences } from './several.ts'

/** Maximum number of choices of one request over all prompts, if every prompt takes a separate request. */
const MOST = 128

/**
 * Answers several prompts at an upstream that takes one conversation per request (docs/wire/completions.md#prompts),
 * one request after another. Clients derive a choice's prompt from its index. Each prompt therefore gets exactly the
 * requested number of choices, even from an upstream that returns one at a time.
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

const TOO_MANY = invalid(`This model returns at most ${MOST} choices per request, counted over all prompts.`, 'prompt')
const NO_ANSWER = new GatewayError({
  kind: 'upstream-failed',
  message: 'The upstream returned no choice for a prompt.',
})

/**
 * Returns the losses of a prompt at its index, and the losses of settings once, because they are the same for every
 * prompt.
 */
const lossesOf = ({ losses }: WholeAnswer, index: number): readonly Loss[] =>
  losses.flatMap(loss => shifted(loss, index) ?? (index > 0 || isOfChoices(loss) ? [] : loss))

/** Whether a loss only concerns the number of choices, which further requests make up for. */
const isOfChoices = ({ path }: Loss): boolean => path[0] === 'output' && path[1] === 'candidates'
