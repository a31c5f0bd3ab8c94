import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Sampling } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import type { Pen } from './content.ts'

const LIMIT = 4096

/** The limit of the answer, which is required: what is made up leaves room for thinking (traps 38, 41). */
export function writeLimit(
  { sampling, output }: CanonicalRequest,
  budget: number | undefined,
  { native, dialect, losses }: Pen,
): JsonObject {
  if (sampling.maxTokens !== undefined) return { max_tokens: sampling.maxTokens }
  if (native || output.count === true) return {}
  const usual = dialect.max_tokens ?? LIMIT
  const limit = budget === undefined ? usual : Math.max(usual, budget + LIMIT)
  losses.add(['sampling', 'maxTokens'], limit, 'limit-required')
  return { max_tokens: limit }
}

/** The version of the format that knows no sampling. */
const UNSAMPLED = '2026-10-21'

/** Models that let the caller choose how they throw their dice: Anthropic's up to 4.6 (FORMATS §6), and others'. */
const THROWN = /claude-(?:instant|v?\d|(?:opus|sonnet|haiku)-(?:3|4(?![-.](?:[7-9]|\d\d)(?!\d))))/

/** Models of Anthropic's that refuse a temperature beside a `top_p`: from Opus 4.1 and Sonnet 4.5 on. */
const ONE_OF_BOTH = /claude-(?:opus-4[-.][1-6]|(?:sonnet|haiku)-4[-.][56])(?!\d)/

const choosesItself = (model: string): boolean => model.includes('claude-') && !THROWN.test(model)

export function writeSampling(request: CanonicalRequest, thinking: boolean, pen: Pen): JsonObject {
  const { sampling, model } = request
  const { dialect, native, losses } = pen
  losses.dropFields(sampling, ['sampling'], {
    seed: 'no-seed',
    frequencyPenalty: 'no-penalties',
    presencePenalty: 'no-penalties',
    logprobs: 'no-logprobs',
  })
  const unsampled = !native && (dialect.version === UNSAMPLED || choosesItself(model))
  const none = dialect.sampling === 'none' || (unsampled && dialect.sampling !== 'all')
  const legal = none ? withoutDice(sampling, pen) : native ? sampling : legalDice(request, thinking, pen)
  return defined({
    temperature: legal.temperature,
    top_p: legal.topP,
    top_k: legal.topK,
    stop_sequences: native ? sampling.stop : writeStop(sampling.stop, pen),
  }) as JsonObject
}

type Dice = Pick<Sampling, 'temperature' | 'topP' | 'topK'>

function withoutDice(sampling: Sampling, { losses }: Pen): Dice {
  losses.dropFields(sampling, ['sampling'], { temperature: 'no-sampling', topP: 'no-sampling', topK: 'no-sampling' })
  return {}
}

const LEAST_TOP_P = 0.95

/** A temperature of at most 1; while thinking only 1, hardly any `top_p`, and no `top_k` (trap 38). */
function legalDice({ sampling, model }: CanonicalRequest, thinking: boolean, { losses }: Pen): Dice {
  const { temperature, topP, topK } = sampling
  const reason = 'not-while-thinking'
  const hot = temperature !== undefined && temperature > 1
  const drops = {
    temperature: thinking && temperature !== undefined && temperature !== 1,
    topP: thinking && topP !== undefined && topP < LEAST_TOP_P,
    topK: thinking && topK !== undefined,
  }
  for (const field of ['temperature', 'topP', 'topK'] as const)
    if (drops[field]) losses.drop(['sampling', field], reason)
  const both = temperature !== undefined && !drops.temperature && topP !== undefined && !drops.topP
  const one = both && ONE_OF_BOTH.test(model)
  if (one) losses.drop(['sampling', 'topP'], 'one-of-both')
  if (hot && !drops.temperature) losses.change(['sampling', 'temperature'], 1, 'at-most-one')
  return defined({
    temperature: drops.temperature ? undefined : hot ? 1 : temperature,
    topP: drops.topP || one ? undefined : topP,
    topK: drops.topK ? undefined : topK,
  }) as Dice
}

/** Stop sequences of nothing but space are refused. */
function writeStop(stop: Sampling['stop'], { losses }: Pen): readonly string[] | undefined {
  if (stop === undefined) return undefined
  const legal = stop.filter(word => word.trim() !== '')
  if (legal.length === 0 && stop.length > 0) {
    losses.drop(['sampling', 'stop'], 'blank-stop')
    return undefined
  }
  stop.forEach((word, index) => {
    if (word.trim() === '') losses.drop(['sampling', 'stop', index], 'blank-stop')
  })
  return legal
}
