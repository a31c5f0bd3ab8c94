import { invalid } from '../../canonical/error.ts'
import { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { FORMATS } from '../../formats/index.ts'
import type { Target } from '../../upstreams/router.ts'
import type { Emulation } from '../types.ts'
import { combined, together } from './several.ts'

/** How many images one request may ask for where each takes a separate request. */
const MOST = 16

/** Whether a caller of another format requests several images of an upstream that makes one in a request. */
export const needsSeveral = ({ format, native }: Target, request: CanonicalRequest): boolean =>
  !native &&
  (request.output.candidates ?? 1) > 1 &&
  FORMATS.get(format.format)?.singleImage === true &&
  workOf(request) === 'image'

/** Several finished images by as many requests at once; they fail together. */
export const severalImages: Emulation = {
  losses: ({ output }) => {
    if (output.candidates! > MOST) throw TOO_MANY
    const losses = new Losses()
    losses.dropFields(output.image, ['output', 'image'], { previews: 'no-unfinished-pictures' })
    return losses.list
  },
  answer: async (attempt, roundTrip) => {
    const { candidates: count, ...output } = attempt.request.output
    const one = (signal: AbortSignal) => roundTrip(attempt, { ...attempt.request, output: finished(output) }, signal)
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

const TOO_MANY = invalid(`At most ${MOST} pictures may be asked of this model at once.`, 'n')
