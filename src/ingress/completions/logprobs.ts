import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { anyNumber, anyText, spelling } from '../fields.ts'
import { FORMAT } from './prompt.ts'

/**
 * The four parallel lists of a choice (FORMATS §3) as tokens. A token without a logprob, the first of an echoed prompt,
 * is left out; the alternatives come as an object and are sorted, most likely first.
 */
export function readLogprobs(wire: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isObject(wire) || !Array.isArray(wire['tokens'])) return undefined
  const { tokens } = wire
  return tokens.flatMap((token, index) => {
    const logprob = anyNumber(at(wire, 'token_logprobs', index))
    if (logprob === undefined) return []
    return [
      {
        token: anyText(token) ?? '',
        logprob,
        ...alternativesOf(at(wire, 'top_logprobs', index)),
        ...offset(wire, index),
      },
    ]
  })
}

function at(wire: JsonObject, field: string, index: number): Json | undefined {
  const values = wire[field]
  return Array.isArray(values) ? (values[index] as Json) : undefined
}

function alternativesOf(wire: Json | undefined): Pick<TokenLogprob, 'top'> {
  if (!isObject(wire)) return {}
  const rated = Object.entries(wire).flatMap(([token, logprob]) =>
    typeof logprob === 'number' ? [{ token, logprob }] : [],
  )
  return { top: rated.sort((a, b) => b.logprob - a.logprob) }
}

/** The token's offset in the text as the upstream counts it. */
function offset(wire: JsonObject, index: number): Pick<TokenLogprob, 'spelling'> {
  const spelt = spelling({ offset: anyNumber(at(wire, 'text_offset', index)) })
  return spelt === undefined ? {} : { spelling: { [FORMAT]: spelt } }
}
