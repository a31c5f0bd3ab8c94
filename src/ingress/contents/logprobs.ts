import type { Json, JsonObject } from '../../canonical/node.ts'
import { isObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { anyNumber, anyObjects, anyText } from '../fields.ts'
import { nodeOf, open, remainsOf } from './fields.ts'

const RESULT = new Set(['chosenCandidates', 'topCandidates'])
const TOKEN = new Set(['token', 'logProbability'])
const STEP = new Set(['candidates'])

/** The chosen tokens, each with the most likely at its step; undefined where there is no list of them. */
export function readLogprobs(wire: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isObject(wire)) return undefined
  const { fields } = open(wire, RESULT)
  if (!Array.isArray(fields['chosenCandidates'])) return undefined
  const steps = anyObjects(fields['topCandidates'])
  return anyObjects(fields['chosenCandidates']).map((token, index) => {
    const step = steps[index]
    const top = step && anyObjects(open(step, STEP).fields['candidates']).map(readToken)
    return top === undefined ? readToken(token) : { ...readToken(token), top }
  })
}

function readToken(wire: JsonObject): TokenLogprob {
  const opened = open(wire, TOKEN)
  return {
    token: anyText(opened.fields['token']) ?? '',
    logprob: anyNumber(opened.fields['logProbability']) ?? 0,
    ...nodeOf(remainsOf(opened, TOKEN)),
  }
}
