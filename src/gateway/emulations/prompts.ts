import { GatewayError, invalid } from '../../canonical/error.ts'
import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate } from '../../canonical/result.ts'
import { CALLER_GONE } from '../failures.ts'
import type { Emulation, WholeAnswer } from '../types.ts'
import { combinedResult, lossesOfReferences } from './several.ts'

/** Maximum number of choices per request, over all prompts, if every prompt needs a separate request. */
const MAX_CHOICES = 128

/**
 * Sends several prompts one after another to an upstream that accepts one conversation per request
 * (docs/wire/completions.md#prompts). Clients derive a choice's prompt from the index of the choice. Each prompt
 * therefore gets exactly the requested number of choices, even from an upstream that returns one at a time.
 */
export const prompts: Emulation = {
  losses: request => {
    if (request.messages.length * choicesOf(request) > MAX_CHOICES) throw TOO_MANY
    return lossesOfReferences(request)
  },
  answer: async (attempt, roundTrip) => {
    const { request } = attempt
    const { call } = attempt.incoming
    const answers: WholeAnswer[] = []
    const candidates: (readonly Candidate[])[] = []
    const losses: (readonly Loss[])[] = []
    for (const [index, message] of request.messages.entries())
      for (let missingChoices = choicesOf(request); missingChoices > 0; ) {
        if (call.reply.gone) throw CALLER_GONE
        const output = withChoices(request, missingChoices)
        const wholeAnswer = await roundTrip(attempt, { ...request, messages: [message], output })
        const choices = wholeAnswer.result.candidates.slice(0, missingChoices)
        if (choices.length === 0) throw NO_ANSWER
        missingChoices -= choices.length
        answers.push(wholeAnswer)
        candidates.push(choices)
        losses[index] ??= lossesOf(wholeAnswer, index)
      }
    return { result: combinedResult(answers, candidates.flat()), losses: losses.flat(), headers: answers[0]!.headers }
  },
}

const choicesOf = ({ output }: CanonicalRequest): number => Math.max(1, Math.floor(output.candidates ?? 1))

const withChoices = ({ output }: CanonicalRequest, candidates: number): CanonicalRequest['output'] =>
  output.candidates === undefined ? output : { ...output, candidates }

const TOO_MANY = invalid(
  `This model returns at most ${MAX_CHOICES} choices per request, counted over all prompts.`,
  'prompt',
)
const NO_ANSWER = new GatewayError({
  kind: 'upstream-failed',
  message: 'The upstream returned no choice for a prompt.',
})

/**
 * Returns the losses of a prompt at its index, and the losses of settings only for the first prompt, because they are
 * the same for every prompt.
 */
const lossesOf = ({ losses }: WholeAnswer, index: number): readonly Loss[] =>
  losses.flatMap(loss => shifted(loss, index) ?? (index > 0 || concernsChoiceCount(loss) ? [] : loss))

/** Returns true if a loss concerns only the number of choices. Further requests make up for it. */
const concernsChoiceCount = ({ path }: Loss): boolean => path[0] === 'output' && path[1] === 'candidates'
