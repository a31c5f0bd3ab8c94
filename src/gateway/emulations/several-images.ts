import { GatewayError } from '../../canonical/error.ts'
import { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import type { Candidate } from '../../router.ts'
import type { Emulation } from '../types.ts'
import { combined } from './combined.ts'
import { together } from './together.ts'

/** As many pictures one request may ask for that each take a request of their own. */
const MOST = 16

/** Formats whose upstreams make one picture at a time. */
const ONE_AT_A_TIME: ReadonlySet<string> = new Set(['contents', 'responses'])

/** Whether several pictures are wanted of an upstream that makes one at a time, by another format's caller. */
export const needsSeveral = ({ format, native }: Candidate, request: CanonicalRequest): boolean =>
  !native && (request.output.candidates ?? 1) > 1 && ONE_AT_A_TIME.has(format.format) && workOf(request) === 'image'

/** Several finished pictures, each asked for by itself, all at once: what one refuses, all refuse. */
export const severalImages: Emulation = {
  losses: ({ output }) => {
    if (output.candidates! > MOST) throw TOO_MANY
    const losses = new Losses()
    losses.dropFields(output.image, ['output', 'image'], { previews: 'no-unfinished-pictures' })
    return losses.list
  },
  answer: async (attempt, ask) => {
    const { candidates: count, ...output } = attempt.request.output
    const one = (signal: AbortSignal) => ask(attempt, { ...attempt.request, output: finished(output) }, signal)
    const answers = await together(
      attempt,
      Array.from({ length: count! }, () => one),
    )
    const { losses, headers } = answers[0]!
    const candidates = answers.flatMap(({ result }) => result.candidates)
    return { result: combined(answers, candidates), losses, headers }
  },
}

function finished({ image, ...output }: Output): Output {
  if (image === undefined) return output
  const { previews: _, ...looks } = image
  return { ...output, image: looks }
}

const TOO_MANY = new GatewayError({
  kind: 'invalid-request',
  message: `At most ${MOST} pictures may be asked of this model at once.`,
  param: 'n',
})
