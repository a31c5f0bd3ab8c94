import { flatCopy } from '../canonical/flat.ts'
import type { Usage } from '../canonical/result.ts'
import type { Candidate } from '../router.ts'
import type { UsageRow } from '../usage/row.ts'

/** Characters of a model that are recorded; rows wait for the store, and a slice would have all of a name wait. */
const LONGEST_MODEL = 500

/** The name of a model as it is recorded. */
export const recordedModel = (model: string): string =>
  model.length <= LONGEST_MODEL ? model : flatCopy(model.slice(0, LONGEST_MODEL))

type Optional<T> = { readonly [name in keyof T]: T[name] | undefined }

/** The fields of a row that name the upstream. */
export const upstreamFields = (
  candidate: Candidate | undefined,
): Optional<Pick<UsageRow, 'upstreamModel' | 'channel' | 'upstreamFormat'>> => ({
  upstreamModel: candidate && recordedModel(candidate.upstreamModel),
  channel: candidate?.channel.name,
  upstreamFormat: candidate?.format.format,
})

/** The fields of a row that count tokens. */
export const tokenFields = (
  usage: Usage | undefined,
): Optional<
  Pick<UsageRow, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'inputAudio' | 'reasoning' | 'outputAudio'>
> => ({
  input: usage?.input,
  output: usage?.output,
  cacheRead: usage?.cacheRead,
  cacheWrite: usage?.cacheWrite,
  inputAudio: usage?.inputBy?.audio,
  reasoning: usage?.reasoning,
  outputAudio: usage?.outputBy?.audio,
})
