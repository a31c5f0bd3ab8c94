import type { Rule } from '../../rules.ts'
import { chat } from '../chat/index.ts'

const CREATE = 'https://platform.openai.com/docs/api-reference/completions/create'
const OBJECT = 'https://platform.openai.com/docs/api-reference/completions/object'

/** Rules of chat streams that also apply to completions. */
const CHAT_RULES = new Set([
  'done',
  'no-event-name',
  'json',
  'one-id',
  'finish',
  'finish-present',
  'usage-when-asked',
  'usage-last',
  'usage-adds-up',
  'error-event',
])

export const rules: readonly Rule[] = [
  { id: 'prompt', on: 'request', level: 'must', source: CREATE, says: 'The request has a prompt.' },
  {
    ...{ id: 'best-of', on: 'request', level: 'must', source: `${CREATE}#best_of` },
    says: 'best_of is at least n and is not combined with a stream.',
  },
  {
    ...{ id: 'choices', on: 'answer', level: 'must', source: `${CREATE}#n` },
    says: 'Every prompt has n choices. Their indexes are counted across all prompts.',
  },
  {
    ...{ id: 'finish-present', on: 'answer', level: 'must', source: OBJECT },
    says: 'Every choice has a finish_reason.',
  },
  {
    ...{ id: 'echo', on: 'answer', level: 'must', source: `${CREATE}#echo` },
    says: 'If echo is set, the text of a choice begins with its prompt.',
  },
  {
    ...{ id: 'logprobs', on: 'answer', level: 'must', source: OBJECT },
    says: 'The lists of log probabilities have one entry per token.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'answer', level: 'should', source: OBJECT },
    says: 'total_tokens is the sum of prompt_tokens and completion_tokens.',
  },
  { id: 'text', on: 'stream', level: 'must', source: OBJECT, says: 'Every choice of a chunk has a text.' },
  ...chat.rules.filter(({ on, id }) => on === 'error' || (on === 'stream' && CHAT_RULES.has(id))),
]
