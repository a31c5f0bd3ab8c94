import type { JsonObject } from '../canonical/node.ts'

/** What a chat upstream that is not OpenAI's own usually wants: no custom tools, no developer turns, no store. */
export const PLAIN_CHAT = { custom_tools: false, developer_role: false, store: false } as const satisfies JsonObject

/** The words a flag may be, or what sort of value it is. */
type Flag = readonly string[] | 'yes-or-no' | 'number' | 'text'

/** The flags the writers obey, with what each may be; a flag that is not here has no effect. */
export const DIALECT_FLAGS: ReadonlyMap<string, Flag> = new Map<string, Flag>([
  // chat
  ['reasoning_field', ['reasoning_content', 'reasoning', 'none']],
  ['reasoning_as', ['reasoning_effort', 'reasoning', 'thinking', 'none']],
  ['cache', ['none', 'cache_control', 'prompt_cache_breakpoint']],
  ['custom_tools', 'yes-or-no'],
  ['developer_role', 'yes-or-no'],
  ['limit_field', ['max_completion_tokens', 'max_tokens']],
  ['include_usage', 'yes-or-no'],
  ['text_only_content', ['parts', 'string']],
  ['json_schema', 'yes-or-no'],
  ['store', 'yes-or-no'],
  ['video', 'yes-or-no'],
  // messages
  ['sampling', ['all', 'none']],
  ['max_tokens', 'number'],
  ['version', 'text'],
  // contents
  ['vertex', 'yes-or-no'],
  ['schema', ['json', 'openapi']],
  // responses
  ['stateless', 'yes-or-no'],
])
