import type { Usage } from '../canonical/result.ts'
import type { Candidate } from '../router.ts'
import type { UsageRow } from '../usage/row.ts'

type Optional<T> = { readonly [name in keyof T]: T[name] | undefined }

/** The fields of a row that name the upstream. */
export const upstreamFields = (
  candidate: Candidate | undefined,
): Optional<Pick<UsageRow, 'upstreamModel' | 'channel' | 'upstreamFormat'>> => ({
  upstreamModel: candidate?.upstreamModel,
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
