import { invalid } from '../../canonical/error.ts'
import { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { FORMAT_FACTS } from '../../formats/index.ts'
import type { Target } from '../../upstreams/router.ts'
import type { Emulation } from '../types.ts'
import { combinedResult, inParallel } from './several.ts'

/** Maximum number of images per request, if each image needs a separate request. */
const MAX_IMAGES = 16

/** Returns true if a non-native request asks for several images and the upstream makes one per request. */
export const needsSeveralRequests = ({ format, native }: Target, request: CanonicalRequest): boolean =>
  !native &&
  (request.output.candidates ?? 1) > 1 &&
  FORMAT_FACTS.get(format.format)?.singleImage === true &&
  workOf(request) === 'image'

/** Makes several images with as many parallel requests. If one request fails, all fail. */
export const severalImages: Emulation = {
  losses: ({ output }) => {
    if (output.candidates! > MAX_IMAGES) throw TOO_MANY
    const losses = new Losses()
    losses.dropFields(output.image, ['output', 'image'], { previews: 'no-unfinished-pictures' })
    return losses.list
  },
  answer: async (attempt, roundTrip) => {
    const { candidates: count, ...output } = attempt.request.output
    const oneImage = (signal: AbortSignal) =>
      roundTrip(attempt, { ...attempt.request, output: withoutPreviews(output) }, signal)
    const answers = await inParallel(
      attempt,
      Array.from({ length: count! }, () => oneImage),
    )
    const { losses, headers } = answers[0]!
    const candidates = answers.flatMap(({ result }) => result.candidates)
    return { result: combinedResult(answers, candidates), losses, headers }
  },
}

function withoutPreviews({ image, ...output }: Output): Output {
  if (image === undefined) return output
  const { previews: _, ...settings } = image
  return { ...output, image: settings }
}

const TOO_MANY = invalid(`This model makes at most ${MAX_IMAGES} images per request.`, 'n')
