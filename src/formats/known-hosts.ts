import type { Format, JsonObject } from '../canonical/node.ts'
import { PLAIN_CHAT } from './dialects/chat.ts'
import { PLAIN_MESSAGES } from './dialects/messages.ts'
import { PLAIN_RESPONSES } from './dialects/responses.ts'

/*
 * Dialect flags of vendors without a preset, by their hosts: of channels with `provider: custom`, and of those that an
 * import wrote for another gateway's provider. The channel's own flags take precedence.
 */

/** Chat dialect of these vendors. */
const CHAT = { ...PLAIN_CHAT, limit_field: 'max_tokens', include_usage: true } as const
const RESPONSES = PLAIN_RESPONSES
const MESSAGES = PLAIN_MESSAGES

interface KnownHost {
  /** A host, which stands for those below it, too. */
  readonly hosts: readonly string[]
  readonly dialects: { readonly [format: Format]: JsonObject }
}

const KNOWN_HOSTS: readonly KnownHost[] = [
  {
    // "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s)"
    // (opencode#9416, serac-labs/serac#53, perplexityai/api-discussion#265, read on 2026-12-01).
    hosts: ['api.perplexity.ai'],
    dialects: { chat: { ...CHAT, system_turns: false, joined_turns: true } },
  },
  {
    // "Invalid 'content' type. Expected one of: ['str'], got list" (claude-code-router#965; LiteLLM 1.110.2,
    // `llms/sambanova`, which also lists the fields; read on 2026-12-01).
    hosts: ['api.sambanova.ai'],
    dialects: { chat: { ...CHAT, text_only_content: 'string', files: false } },
  },
  {
    // Models without a switch of reasoning refuse it: "current model does not support parameter `enable_thinking`"
    // (cherry-studio#6642, immersive-translate#3569, WeKnora#318, read on 2026-12-01), so that none is written.
    hosts: ['api.siliconflow.cn', 'api.siliconflow.com'],
    dialects: { chat: { ...CHAT, files: false } },
  },
  {
    // `thinking` decides, beside an effort (Zoo-Code#664, openhanako#1835; "Invalid combination of reasoning_effort and
    // thinking type: medium + disabled", Roo-Code#11001); Responses take no unknown field (egress/responses/ark-fields.ts).
    hosts: ['volces.com', 'bytepluses.com'],
    dialects: {
      chat: {
        ...{ ...CHAT, reasoning_field: 'reasoning_content', reasoning_as: 'thinking' },
        efforts: ['low', 'medium', 'high'],
      },
      responses: { ...RESPONSES, request_fields: 'ark' },
      messages: MESSAGES,
    },
  },
  {
    // "The reasoning_content in the thinking mode must be passed back to the API" (pi#4602, 9router#1210, WeKnora#1302),
    // "`text` is not set" for lists in results (XiaomiMiMo/MiMo#44, hermes-agent#35972, read on 2026-12-01).
    hosts: ['xiaomimimo.com'],
    dialects: {
      chat: {
        ...{ ...CHAT, reasoning_field: 'reasoning_content', reasoning_demanded: true, reasoning_as: 'thinking' },
        ...{ text_only_content: 'string', files: false },
      },
      messages: { ...MESSAGES, files: false, reasoning_demanded: true },
      responses: { ...RESPONSES, files: false },
    },
  },
  {
    // The table of oh-my-pi 18.2.11 (`max_tokens`, three efforts; read on 2026-12-01).
    hosts: ['api.stepfun.com', 'api.stepfun.ai'],
    dialects: { chat: { ...CHAT, efforts: ['low', 'medium', 'high'] } },
  },
  {
    // System messages stand first (langchain4j-community#80, read on 2026-12-01).
    hosts: ['qianfan.baidubce.com'],
    dialects: { chat: { ...CHAT, system_turns: false } },
  },
]

/** Returns the flags of a format at a base URL. Empty for a host that is not known. */
export function hostDialect(format: Format, baseUrl: string): JsonObject {
  if (!URL.canParse(baseUrl)) return {}
  const { hostname } = new URL(baseUrl)
  return KNOWN_HOSTS.find(({ hosts }) => hosts.some(host => isBelowHost(hostname, host)))?.dialects[format] ?? {}
}

/** Returns true for a host and those below it. */
export const isBelowHost = (hostname: string, host: string): boolean =>
  hostname === host || hostname.endsWith(`.${host}`)
