import { Budget } from '../../canonical/budget.ts'
import { Losses } from '../../canonical/loss.ts'
import {
  type CanonicalRequest,
  leadingInstructions,
  type Message,
  type Output,
  type Sampling,
} from '../../canonical/request.ts'
import type { ContentsDialect } from '../../formats/dialects/contents.ts'
import { MODEL_LIMIT } from '../losses.ts'
import { withoutRefusedSettings } from '../sanitize/refused-settings.ts'
import { jsonInWords } from './json.ts'
import { writeThinking } from './thinking.ts'

/*
 * Settings that some of Google's models refuse with 400 (formats/gemini-families.ts): "Penalty is not enabled for this
 * model", "Multiple candidates is not enabled", "Logprobs is not enabled", "Developer instruction is not enabled". All
 * refuse a `topK` of 0, with which other vendors leave the choice open: "the supported range is from 1"
 * (genkit-ai/genkit#1397, Robitx/gp.nvim#241, read on 2026-12-01).
 */

/** Returns the request with those settings that the model takes. Reports each change. */
export function withTakenSettings(
  request: CanonicalRequest,
  dialect: ContentsDialect,
  losses: Losses,
): CanonicalRequest {
  const accepted = withoutRefusedSettings(request, { penalties: dialect.penalties !== false }, losses)
  return {
    ...accepted,
    sampling: takenSampling(accepted.sampling, dialect, losses),
    output: takenOutput(accepted.output, dialect, losses),
    messages: dialect.system === false ? withoutInstructions(accepted.messages, losses) : accepted.messages,
  }
}

/**
 * Returns true if the model takes the settings of a native request as they are. Any other request is written anew: its
 * caller chose them for the model that it named.
 */
export function isTaken(request: CanonicalRequest, dialect: ContentsDialect): boolean {
  const losses = new Losses()
  withTakenSettings(request, dialect, losses)
  writeThinking(request.reasoning, { dialect, native: false, losses, budget: new Budget() })
  const { shape = 'text' } = request.output.text ?? {}
  const endsTaken = dialect.prefill !== false || request.messages.at(-1)?.role !== 'assistant'
  return losses.list.length === 0 && endsTaken && (shape === 'text' || jsonInWords(request, dialect) === undefined)
}

/** Largest seed: Google's seeds have 32 bits. */
const MAX_SEED = 2 ** 31 - 1

function takenSampling(sampling: Sampling, dialect: ContentsDialect, losses: Losses): Sampling {
  const taken: { -readonly [Field in keyof Sampling]: Sampling[Field] } = { ...sampling }
  const { logprobs, maxTokens, seed, topK } = sampling
  if (dialect.logprobs === false && logprobs !== undefined) {
    losses.drop(['sampling', 'logprobs'], 'no-logprobs')
    delete taken.logprobs
  }
  if (topK !== undefined && topK < 1) {
    losses.dropRestored(['sampling', 'topK'], 'the-default')
    delete taken.topK
  }
  if (dialect.max_output !== undefined && maxTokens !== undefined && maxTokens > dialect.max_output) {
    losses.change(['sampling', 'maxTokens'], dialect.max_output, MODEL_LIMIT)
    taken.maxTokens = dialect.max_output
  }
  if (seed !== undefined && Math.abs(seed) > MAX_SEED) {
    taken.seed = Math.abs(seed) % (MAX_SEED + 1)
    losses.change(['sampling', 'seed'], taken.seed, 'seed-of-32-bits')
  }
  return taken
}

function takenOutput(output: Output, dialect: ContentsDialect, losses: Losses): Output {
  const { candidates = 1, ...others } = output
  if (dialect.candidates !== false || candidates <= 1) return output
  losses.drop(['output', 'candidates'], 'one-answer-only')
  return others
}

/** Returns the messages with leading instructions as turns of the user, for models that have no others. */
function withoutInstructions(messages: readonly Message[], losses: Losses): readonly Message[] {
  const count = leadingInstructions(messages)
  return messages.map((message, index) => {
    if (index >= count) return message
    losses.change(['messages', index, 'role'], 'user', 'no-system-instruction')
    return { ...message, role: 'user' }
  })
}
